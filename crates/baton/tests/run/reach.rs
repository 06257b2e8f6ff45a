//! What agents must not change, and whether it lies where they can: protected, or told.

use crate::den::{Den, Who};
use crate::site::{Ended, Site};

/// A workflow whose agent tries to change it and its scripts, which it finds in this folder.
fn reaching(flow_folder: &str, phase: &str) -> Site {
    let flow = format!(
        "name: inside\nagents: {{dev: {{command: [./dev.py], template: prompt.txt}}}}\n\
         phases: [{{id: build, agent: dev{phase}}}, {{id: tests, check: ./check.sh}}, {{id: inner, workflow: inner.yaml}}]\n"
    );
    let body = "told = {}\nflow = 'FLOW_FOLDER'\n\
        for name in ['workflow.yaml', 'inner.yaml', 'prompt.txt', 'check.sh', 'dev.py', 'notes.txt']:\n\
        \x20   try:\n        open(os.path.join(flow, name), 'a').write('\\n'); told[name] = 'changed'\n\
        \x20   except OSError as error:\n        told[name] = error.strerror\n\
        try:\n    os.rename(flow, flow + '-elsewhere'); told['flow'] = 'changed'\n\
        except OSError as error:\n    told['flow'] = error.strerror\n\
        folder = os.environ['BATON_OUTPUT_DIRECTORY']\nos.makedirs(folder, exist_ok=True)\n\
        write(os.path.join(folder, 'told'), json.dumps(told))\nreport()";
    let site = Site::new().workflow(&flow).agent("dev", &body.replace("FLOW_FOLDER", flow_folder));
    site.scratch.write("flow/inner.yaml", "name: inner\nphases: [{id: x, check: \"true\"}]\n");
    site.scratch.write("flow/prompt.txt", "{{ task }}").write("flow/notes.txt", "");
    site.scratch.write("flow/check.sh", "#!/bin/sh\nexit 0\n");
    std::fs::set_permissions(site.scratch.path("flow/check.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("our own file");
    site
}

fn told(site: &Site, workspace: &str) -> serde_json::Value {
    let ended = site.baton(&["run", "flow", "--workspace", workspace, "--id", "t", "--no-input"]);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    serde_json::from_str(&site.scratch.read(format!("{workspace}/.baton/output/t/told"))).expect("JSON")
}

#[test]
fn workflow_and_its_scripts_in_the_workspace_can_only_be_read() {
    let told = told(&reaching("flow", ""), ".");
    for name in ["workflow.yaml", "inner.yaml", "prompt.txt", "check.sh", "dev.py"] {
        assert_eq!(told[name], "Read-only file system", "{name}: {told}");
    }
    assert_ne!(told["flow"], "changed", "{told}");
    assert_eq!(told["notes.txt"], "changed", "the rest of the workspace is theirs: {told}");
}

#[test]
fn scripts_that_writes_names_can_be_changed() {
    let told = told(&reaching("flow", ", writes: ['flow/**']"), ".");
    assert_eq!((&told["check.sh"], &told["workflow.yaml"]), (&"changed".into(), &"changed".into()), "{told}");
}

#[test]
fn scripts_beside_a_workspace_in_a_temporary_folder_can_only_be_read() {
    for phase in ["", ", writes: ['**']"] {
        let site = reaching("../flow", phase);
        assert!(site.scratch.path("").starts_with(std::env::temp_dir()), "beyond it nothing could be written anyhow");
        let told = told(&site, "workspace");
        for name in ["workflow.yaml", "inner.yaml", "prompt.txt", "check.sh", "dev.py"] {
            assert_eq!(told[name], "Read-only file system", "{name} with `{phase}`: {told}");
        }
        assert_ne!(told["flow"], "changed", "with `{phase}`: {told}");
    }
}

fn warnings(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("warning: ")).collect()
}

#[test]
fn home_below_a_temporary_folder_is_told_before_the_run_and_by_doctor() {
    let den = Den::new(Who::Me, ("", "", ""), "tell()");
    let ended = den.run();
    let told = "your home folder ";
    assert!(
        warnings(&ended).iter().any(|line| line.contains(told) && line.contains("where agents can write")),
        "{ended:?}"
    );
    let doctor = den.baton(&["doctor"]);
    assert!(doctor.stdout.contains("! reach        your home folder"), "{doctor:?}");
    assert!(!doctor.stdout.contains("the store /"), "bubblewrap hides it wherever it lies: {doctor:?}");
}

#[test]
fn store_and_configuration_below_a_temporary_folder_are_told_where_only_landlock_holds() {
    let den = Den::new(Who::Me, ("", "", ""), "tell()");
    den.site.scratch.write("baton.toml", "[approvers]\nfile = \"allowed_signers\"\n[anchor]\nfile = \"heads\"\n");
    den.site.scratch.write("allowed_signers", "");
    let broken = den.path("programs/bwrap");
    den.site.scratch.write(&broken, "#!/bin/sh\necho 'bwrap: no' >&2\nexit 1\n");
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("our own file");
    let path = format!("{}:{}", den.path("programs").display(), std::env::var("PATH").expect("a path"));
    let mut command = den.command(&["doctor"]);
    command.env("PATH", path);
    let mut process = baton_testbed::Process::spawn(&mut command);
    process.close_input();
    let doctor = crate::site::end(&mut process);
    if !doctor.stdout.contains("partly caged by Landlock") {
        return;
    }
    for what in ["the store", "the configuration", "the file of approvers", "the anchor"] {
        assert!(doctor.stdout.contains(&format!("! reach        {what} /")), "{what}: {doctor:?}");
    }
}

#[test]
fn database_without_a_password_is_told() {
    let site = Site::new();
    let open = site.baton(&["doctor", "--store", "postgres://baton@127.0.0.1:1/none"]);
    assert!(open.stdout.contains("! reach        postgres://baton@127.0.0.1:1/none needs no password"), "{open:?}");
    let closed = site.baton(&["doctor", "--store", "postgres://baton:secret@127.0.0.1:1/none"]);
    assert!(!closed.stdout.contains("needs no password"), "{closed:?}");
}

#[test]
fn doctor_names_cage_anchor_and_approvers_before_there_is_a_store() {
    let site = Site::new();
    site.scratch.write("baton.toml", "[approvers]\nfile = \"allowed_signers\"\n[anchor]\nfile = \"nowhere/heads\"\n");
    site.scratch.write("allowed_signers", "ssh-ed25519 AAAA\n");
    let doctor = site.baton(&["doctor"]);
    assert_eq!(doctor.code, Some(2), "{doctor:?}");
    for told in ["sandbox ", "✗ approvers ", "allowed_signers:1: the name is missing", "✗ anchor "] {
        assert!(doctor.stdout.contains(told), "{told}: {doctor:?}");
    }
    assert!(doctor.stdout.contains("has no store yet; it will be "), "{doctor:?}");
}

#[test]
fn agent_that_is_let_out_of_the_cage_and_a_missing_folder_are_told_before_the_run() {
    let flow = "name: w\ncage: {write: [../nothere]}\nagents: {dev: {command: [./dev.py]}, out: {command: [./dev.py], sandbox: off}}\n\
                phases: [{id: a, agent: dev}, {id: b, agent: out}]\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let ended = site.run(&[]);
    let told = warnings(&ended);
    assert!(told.iter().any(|line| line.contains("the agent out is not caged (sandbox: off)")), "{ended:?}");
    assert!(told.iter().any(|line| line.contains("cage.write names ../nothere, which does not exist")), "{ended:?}");
}
