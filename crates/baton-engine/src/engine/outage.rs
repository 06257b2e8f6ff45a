//! A store that cannot be reached for a while: how long it is waited for, and what whoever waits learns about it.

use std::time::Duration;

use tokio::time::Instant;

use super::Problem;

/// How long to wait at least before a store that is away is asked again.
const ASK_AGAIN_MIN: Duration = Duration::from_millis(250);

/// How long to wait at most before it is asked again.
const ASK_AGAIN_MAX: Duration = Duration::from_secs(5);

/// How long a store may be away before whoever has nothing else to wait for gives up.
pub(crate) const AWAY_MAX: Duration = Duration::from_mins(10);

/// Returns how long to wait before a store is asked again: the longer it has been away, the less often.
pub(crate) fn pause(away: Duration) -> Duration {
    (away / 2).clamp(ASK_AGAIN_MIN, ASK_AGAIN_MAX)
}

/// News about the store for whoever waits.
#[derive(Debug, Clone, Copy)]
pub enum StoreNews<'a> {
    /// The store does not answer; it is asked again.
    Away(&'a Problem),
    /// It answers again.
    Back,
}

/// Since when the store has been away, if it is.
#[derive(Debug, Default)]
pub(super) struct Outage {
    since: Option<Instant>,
}

impl Outage {
    /// Notes that the store has answered.
    pub(super) fn end(&mut self, tell: &(dyn Fn(StoreNews<'_>) + Sync)) {
        if self.since.take().is_some() {
            tell(StoreNews::Back);
        }
    }

    /// Returns how long to wait before the store is asked again. Gives a problem back that waiting does not solve.
    pub(super) fn endure(
        &mut self,
        problem: Problem,
        tell: &(dyn Fn(StoreNews<'_>) + Sync),
    ) -> Result<Duration, Problem> {
        let away = self.since.map(|since| since.elapsed()).unwrap_or_default();
        let may_pass = matches!(&problem, Problem::Store(error) if error.may_pass());
        if away >= AWAY_MAX || !may_pass {
            return Err(problem);
        }
        if self.since.is_none() {
            tell(StoreNews::Away(&problem));
            self.since = Some(Instant::now());
        }
        Ok(pause(away))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;
    use std::sync::Mutex;

    fn unreachable() -> Problem {
        Problem::Store(StoreError::Unreachable("gone".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn outage_is_told_once_and_endured_for_ten_minutes() {
        let told = Mutex::new(Vec::new());
        let tell = |news: StoreNews<'_>| told.lock().unwrap().push(matches!(news, StoreNews::Back));
        let mut outage = Outage::default();
        outage.end(&tell);
        assert_eq!(outage.endure(unreachable(), &tell), Ok(ASK_AGAIN_MIN));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(outage.endure(unreachable(), &tell), Ok(Duration::from_secs(2)));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(outage.endure(unreachable(), &tell), Ok(ASK_AGAIN_MAX));
        outage.end(&tell);
        assert_eq!(*told.lock().unwrap(), [false, true]);
        assert!(outage.endure(unreachable(), &tell).is_ok());
        tokio::time::advance(AWAY_MAX).await;
        assert_eq!(outage.endure(unreachable(), &tell), Err(unreachable()));
    }

    #[test]
    fn other_problems_are_given_back_at_once() {
        let problem = Problem::Store(StoreError::Failed("broken".to_owned()));
        assert_eq!(Outage::default().endure(problem.clone(), &|_| {}), Err(problem));
    }
}
