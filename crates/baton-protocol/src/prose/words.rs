//! Owns the lists of known English words and what each of them is worth as evidence.
//! Refuses to know what a verdict is: it answers with flags, the judges add them up.
//! Invariant: a word that is on no list has no flags, so unknown words (names, other
//! languages) always count as content and never as filler.

/// Articles, pronouns, prepositions, auxiliaries, small adverbs: never content.
pub(super) const GLUE: u32 = 1;
/// Claims that something was done ("done", "added", "ready"): never content, and they raise
/// the bar.
pub(super) const CLAIM: u32 = 1 << 1;
/// Objects that fit any project ("task", "code", "changes"): never content.
pub(super) const GENERIC: u32 = 1 << 2;
/// Kinds of work product: filler in a summary ("added tests"), checkable in a criterion.
pub(super) const ARTIFACT: u32 = 1 << 3;
/// Words that point outside the text ("above", "discussed").
pub(super) const POINTER: u32 = 1 << 4;
/// Words for work that goes on ("wip", "continue").
pub(super) const ONGOING: u32 = 1 << 5;
/// Whole subjects that a criterion may be about without becoming checkable ("performance").
pub(super) const ABSTRACT: u32 = 1 << 6;
/// Qualities in the eye of the beholder ("good", "robust", "properly").
pub(super) const QUALITY: u32 = 1 << 7;
/// Qualities that also name a technical fact before a noun ("secure cookies", "clean tree").
pub(super) const SOFT: u32 = 1 << 8;
/// Speed without a number ("quickly", "asap").
pub(super) const SPEED: u32 = 1 << 9;
/// Appeals to effort ("careful").
pub(super) const CARE: u32 = 1 << 10;
/// Verbs of change that need a target to be checkable ("improve", "reduce").
pub(super) const CHANGE: u32 = 1 << 11;
/// Events, comparisons and standards that anyone can check ("passes", "merged", "owasp").
pub(super) const EVIDENCE: u32 = 1 << 12;
/// Counts of none ("no", "without").
pub(super) const NONE: u32 = 1 << 13;
/// Spelled-out numbers.
pub(super) const COUNT: u32 = 1 << 14;
/// The "or" of a choice.
pub(super) const CHOICE: u32 = 1 << 15;
/// The "as" that turns "well" into "as well as".
pub(super) const AS: u32 = 1 << 16;
/// Verbs of doing that ask rather than claim ("add", "run"): never content.
pub(super) const ACT: u32 = 1 << 17;
/// Prepositions that say where or with what ("in", "to", "with").
pub(super) const PLACE: u32 = 1 << 18;

/// The lists are lower case, without hyphens and apostrophes, because the hash drops both.
const LISTS: &[(u32, &str)] = &[
    (
        GLUE,
        "a an the this that these those it its itself thats theres there here he she they them \
         their i im ive id ill me my mine we weve were our us you your yours youre is isnt are \
         arent was wasnt be been being am has hasnt have havent had having do does doesnt did \
         didnt dont will wont would can cant cannot could couldnt should shall may might must \
         and or but nor so yet if then than because as at by for from in into of off on onto out \
         over to up down with within without about after again all also any anything anyone \
         everyone both each every either few more most much many no none not never nothing now \
         once only other others another own same some something somewhat somehow such too very \
         well just quite really already still soon later almost nearly lot lots bit couple \
         several various certain multiple different what which who whose when where why how while \
         until since before between during against through throughout across per via etc please \
         thanks thank let lets ok okay yes hi hello hey turn special routine usual usually new old good great fine nice cool sure \
         far further away back around along together else like one ones first last next left \
         right way ways able possible currently now today yesterday tomorrow time basically \
         mostly mainly generally simply actually finally overall little pretty enough however \
         though andor na fyi so regarding according accordingly necessary needful",
    ),
    (
        CLAIM,
        "done did completed complete completes completion completely finished finishes wrote \
         written added addition additions implemented updated updates fixed fixes made changed \
         created built resolved solved worked work works working successfully success successful \
         ready refactored improved improves applied set setup prepared handled addressed cleaned \
         performed executed ran finalized finalised delivered achieved accomplished wrapped \
         passed pass passes passing tweaked tweaks adjusted modified pushed committed put got \
         used goes gone went took taken kept tried tackled covered sorted polished stabilized \
         closed reworked defined produced generated tested edited fleshed enhanced optimized \
         optimised compile compiles compiled runs",
    ),
    (
        ACT,
        "doing do completing finish finishing write writes writing add adds adding implement \
         implements implementing update updating fix fixing make makes making change changing \
         create creates creating build builds building resolve resolves resolving solve solves \
         refactor refactors refactoring improve improving apply prepare handle handling address \
         clean perform execute run running finalize deliver achieve wrapping tweak modify get \
         gets getting use uses using go going take takes keep keeps try trying cleaning polishing",
    ),
    (
        GENERIC,
        "task tasks work job jobs code codebase change changes stuff thing things everything \
         implementation implementations architecture feature features bug bugs issue issues \
         problem problems functionality functionalities system systems solution solutions \
         project part parts item items piece pieces step steps phase phases stage stages \
         improvement improvements tweak tweaks cleanup cleanups refactorings adjustment \
         adjustments modification modifications progress request requested requests agent \
         agents requirement requirements draft initial minor small big major general quality \
         result results logic final current currently existing aspect aspects area areas \
         relevant important main whole entire full fully correctly properly expected expectations \
         lgtm goal goals objective objectives assignment ticket tickets \
         remaining app application software program todo todos tbd dusted yet person rest \
         software basics core functional operational perfect perfectly smoothly fine \
         better clean nicely place great shape end ensure ensured ensuring intended hopefully hope think believe feel \
         seems seem looks look looking confident glad hard start starting begin began",
    ),
    (
        ARTIFACT,
        "wrapper wrappers test tests testing docs doc documentation file files component \
         components module modules service services function functions class classes method \
         methods script scripts comment comments ui pr mr repo repository branch commit \
         commits configuration config package packages library libraries endpoint endpoints \
         page pages screen screens",
    ),
    (
        POINTER,
        "see above below mentioned discussed earlier previous previously prior conversation \
         message messages thread chat discussion details detail note notes refer described \
         discuss agreed know explained attached attachment attachments context info information",
    ),
    (
        ONGOING,
        "wip progress continue continued continues continuing continuation ongoing pick picking \
         resume proceed coming come handing handed hand handoff passing over stopped stop moving \
         onwards underway forward follow followup",
    ),
    (
        ABSTRACT,
        "user users experience performance error errors api ui ux design structure structured \
         documented designed tested look looks looking feel feels use usage module component components service \
         product website site page interface tool tools industry coding programming response \
         times load loads loading understand maintain written available tolerant technical debt level levels \
         standard standards practice practices case cases edge customer customers people \
         developer developers reader readers future naturally always ensure sure want wants \
         data integration app hard right value latency throughput overhead downtime complexity memory",
    ),
    (
        QUALITY,
        "good great nice nicely ugly messy sloppy best excellent perfect perfectly \
         awesome amazing beautiful beautifully attractive pretty pleasant delightful happy \
         satisfied satisfying robust robustly robustness scalable scalability maintainable \
         maintainability readable readability elegant elegantly efficient efficiently efficiency \
         performant intuitive intuitively friendly userfriendly developerfriendly usable \
         usability easy easily easier effortless effortlessly simplicity quality highquality \
         topquality proper properly appropriate appropriately suitable suitably adequate \
         adequately sufficient sufficiently reasonable reasonably acceptable acceptably sensible \
         sensibly meaningful meaningfully graceful gracefully reliable reliably reliability \
         smooth smoothly seamless seamlessly flexible flexibility extensible extensibility \
         modular professional professionally polished comprehensive comprehensively thorough \
         thoroughly optimal optimally noticeable noticeably unnecessary unnecessarily \
         overcomplicate overcomplicated overengineer overengineered stateoftheart \
         productionready productiongrade enterprisegrade worldclass firstclass wellwritten \
         wellstructured welldocumented welldesigned welltested wellorganized wellorganised \
         idiomatic concise helpful useful tasteful futureproof selfexplanatory selfdocumenting faulttolerant highlyavailable bugfree highperformance \
         userfocused usercentric customercentric centric neat neatly tidy correctly nicelooking goodlooking decent solid satisfactory \
         satisfactorily maximally effectively effective innovative powerful engaging",
    ),
    (
        SOFT,
        "bad poor high highly secure securely clean cleanly cleaner simple simpler simply stable safe safely strong \
         clear clearly modern better well consistent consistently minimal lightweight responsive \
         expected correct accessible organized organised understandable convenient logical \
         natural fine important accurate accurately usual normal normally stronger nicer",
    ),
    (
        SPEED,
        "quick quickly fast faster speedy speedily rapid rapidly soon asap timely promptly snappy \
         urgent urgently swift swiftly immediately slow",
    ),
    (
        CARE,
        "careful carefully care diligent diligently effort sense mind mindful attention cautious \
         cautiously caution",
    ),
    (
        CHANGE,
        "improve improved improves improving improvement improvements enhance enhanced enhances \
         enhancing optimize optimise optimized optimised optimizing optimising optimization \
         optimisation reduce reduced reducing minimize minimise minimized minimised minimizing \
         maximize maximise increase increased increasing modernize modernise streamline \
         simplify polish speed boost strengthen refine tidy",
    ),
    (
        EVIDENCE,
        "pass passes passed passing green exit exits merged approved approval approves deployed \
         published tagged signed compile compiles compiled exist exists reject rejects rejected \
         refuse refuses refused match matches matching identical byteidentical equal equals \
         unchanged than exactly redirects redirected owasp wcag gdpr rfc pci hipaa soc iso nist \
         posix cve cwe sla slo pep ecma ieee fips cis ccpa hipaa semver tdd lighthouse maximum \
         minimum below above exceed exceeds exceeding within deadline monday tuesday wednesday \
         thursday friday idempotent offline reproducible deterministic succeeds succeed succeeded",
    ),
    (NONE, "no none without nothing neither"),
    (
        COUNT,
        "zero two three four five six seven eight nine ten eleven twelve fifteen twenty thirty \
         forty fifty sixty hundred thousand million half double twice dozen",
    ),
    (CHOICE, "or versus vs"),
    (AS, "as"),
    (PLACE, "in into to onto for from with on against via"),
];

const SLOTS: usize = 2048;

#[derive(Clone, Copy)]
struct Slot {
    tag: u32,
    flags: u32,
}

/// One table for all lists, built by the compiler, so that a lookup costs one or two loads.
/// Only hashes are kept: about 40 bits tell words apart, which is enough for advice.
static TABLE: [Slot; SLOTS] = build_table();

pub(super) const fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

pub(super) const SEED: u64 = 0xCBF2_9CE4_8422_2325;

/// The tag is never zero, because zero marks an empty slot.
const fn address(hash: u64) -> (usize, u32) {
    ((hash >> 20) as usize % SLOTS, (hash >> 32) as u32 | 1)
}

const fn build_table() -> [Slot; SLOTS] {
    let mut table = [Slot { tag: 0, flags: 0 }; SLOTS];
    let mut list = 0;
    while list < LISTS.len() {
        let (flag, words) = LISTS[list];
        let words = words.as_bytes();
        let mut hash = SEED;
        let mut at = 0;
        while at <= words.len() {
            if at < words.len() && words[at] != b' ' {
                hash = mix(hash, words[at]);
            } else if hash != SEED {
                table = with_word(table, hash, flag);
                hash = SEED;
            }
            at += 1;
        }
        list += 1;
    }
    table
}

const fn with_word(mut table: [Slot; SLOTS], hash: u64, flag: u32) -> [Slot; SLOTS] {
    let (mut slot, tag) = address(hash);
    while table[slot].tag != 0 && table[slot].tag != tag {
        slot = (slot + 1) % SLOTS;
    }
    table[slot].tag = tag;
    table[slot].flags |= flag;
    table
}

pub(super) fn flags_of(hash: u64) -> u32 {
    let (mut slot, tag) = address(hash);
    loop {
        let found = TABLE[slot];
        if found.tag == tag {
            return found.flags;
        }
        if found.tag == 0 {
            return 0;
        }
        slot = (slot + 1) % SLOTS;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::LISTS;

    #[test]
    fn every_listed_word_is_found_with_its_flag() {
        for (flag, words) in LISTS {
            for word in words.split(' ') {
                let flags: Vec<u32> = tokens(word).map(|token| token.flags).collect();
                assert_eq!(flags.len(), 1, "{word:?} is not one word");
                assert_ne!(flags[0] & flag, 0, "{word:?} lost its flag");
                assert_eq!(word.to_lowercase(), word);
            }
        }
    }

    #[test]
    fn the_table_has_room() {
        let used = super::TABLE.iter().filter(|slot| slot.tag != 0).count();
        assert!(used * 8 <= super::SLOTS * 5, "{used} words");
    }
}
