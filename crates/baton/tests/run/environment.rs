//! What agents and commands see of the environment: what is harmless, what is named, and nothing else.

use std::process::Command;

use baton_testbed::Process;

use crate::site::{Ended, Site, end};

/// Runs the workflow of a site with variables that its user has.
fn run_with(site: &Site, variables: &[(&str, &str)]) -> Ended {
    let mut command = site.command(&["run", "flow", "--workspace", "workspace", "--id", "t", "--no-input"]);
    command.envs(variables.iter().copied());
    started(&mut command)
}

fn started(command: &mut Command) -> Ended {
    let mut process = Process::spawn(command);
    process.close_input();
    end(&mut process)
}

const SEES: &str = "names = sorted(name for name in os.environ if name.startswith(('BUCKET_', 'HTTPS_', 'TEAM', 'OTHER', 'NODE_')))\n\
                    write('seen.txt', ' '.join(names))\nreport()";

#[test]
fn agent_sees_proxies_patterns_and_what_the_whole_workflow_names() {
    let flow = "name: env\nenv: [TEAM_TOKEN]\nagents: {dev: {command: [./dev.py], env: ['BUCKET_*']}}\n\
                phases: [{id: build, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", SEES);
    let variables = [
        ("BUCKET_REGION", "eu"),
        ("BUCKET_PROFILE", "dev"),
        ("HTTPS_PROXY", "http://proxy:8080"),
        ("NODE_EXTRA_CA_CERTS", "/ca.pem"),
        ("TEAM_TOKEN", "x"),
        ("OTHER_TOKEN", "y"),
    ];
    let ended = run_with(&site, &variables);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let seen = site.scratch.read("workspace/seen.txt");
    assert_eq!(seen, "BUCKET_PROFILE BUCKET_REGION HTTPS_PROXY NODE_EXTRA_CA_CERTS TEAM_TOKEN");
}

#[test]
fn commands_see_what_is_named_and_set_for_them() {
    let flow = "name: env\nenv: [TEAM_TOKEN]\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\nphases:\n\
                \x20 - id: build\n    agent: dev\n    verify:\n\
                \x20     - {name: database, run: 'test \"$DATABASE_URL $TEAM_TOKEN $LEVEL\" = \"db x 3\"', env: [DATABASE_*], set_env: {LEVEL: 3}}\n\
                \x20 - {id: look, check: 'test \"$DATABASE_URL $LEVEL\" = \"db 4\"', env: [DATABASE_URL], set_env: {LEVEL: 4}}\n\
                \x20 - id: ok\n    gate: {type: auto, items: [All of it], checks: [{name: gate, run: 'test \"$LEVEL\" = 5', set_env: {LEVEL: 5}}]}\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let ended = run_with(&site, &[("DATABASE_URL", "db"), ("TEAM_TOKEN", "x")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let other = Site::new().workflow(&flow.replace("env: [DATABASE_*], ", "")).agent("dev", "report()");
    let ended = run_with(&other, &[("DATABASE_URL", "db"), ("TEAM_TOKEN", "x")]);
    assert_ne!(ended.code, Some(0), "a variable that nobody names is not there: {}", ended.stderr);
}

const CLAUDE: &str = "name: env\nagents: {dev: {profile: claude, sandbox: off, retry: {max_retries: 0}}}\n\
                      phases: [{id: build, agent: dev}]\n";

#[test]
fn key_that_is_set_but_not_passed_on_is_told_by_the_check_and_by_the_failure() {
    let site = Site::new().workflow(CLAUDE);
    let program = "#!/bin/sh\ncat > /dev/null\necho 'Invalid API key · Please run /login' >&2\nexit 1\n";
    site.scratch.write("bin/claude", program);
    let path = site.scratch.path("bin/claude");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("our own file");
    let bin = site.scratch.path("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let variables = [("PATH", path.as_str()), ("ANTHROPIC_API_KEY", "secret-key")];
    let mut check = site.command(&["workflow", "check", "flow"]);
    let checked = started(check.envs(variables));
    assert!(checked.stdout.contains("withheld-key"), "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stdout.contains("`ANTHROPIC_API_KEY` is set here, but not passed on"), "{}", checked.stdout);
    let ended = run_with(&site, &variables);
    assert!(ended.stderr.contains("set here but not passed on: ANTHROPIC_API_KEY"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("secret-key"), "{}", ended.stderr);
    let named = Site::new().workflow(&CLAUDE.replace("profile: claude", "profile: claude, env: ['ANTHROPIC_*']"));
    let mut check = named.command(&["workflow", "check", "flow"]);
    let checked = started(check.envs(variables));
    assert!(!checked.stdout.contains("withheld-key"), "{}", checked.stdout);
}

#[test]
fn no_pattern_passes_the_address_of_the_store_on() {
    let flow = "name: env\nagents: {dev: {command: [./dev.py], env: ['*']}}\nphases:\n  - {id: build, agent: dev}\n\
                \x20 - {id: look, check: 'env > seen-by-check.txt', env: ['*']}\n";
    let site = Site::new()
        .workflow(flow)
        .agent("dev", "write('seen.txt', '\\n'.join(f'{k}={v}' for k, v in os.environ.items()))\nreport()");
    let store = site.scratch.path("elsewhere.db").display().to_string();
    let variables = [("BATON_STORE", store.as_str()), ("BACKUP_OF", store.as_str()), ("TEAM_TOKEN", "x")];
    let ended = run_with(&site, &variables);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for file in ["seen.txt", "seen-by-check.txt"] {
        let seen = site.scratch.read(format!("workspace/{file}"));
        assert!(seen.contains("TEAM_TOKEN=x") && !seen.contains(&store), "{file}: {seen}");
    }
}
