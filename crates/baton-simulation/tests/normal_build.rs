//! Planted bugs and the store in memory exist only where somebody asks for them.

use std::process::Command;

#[test]
fn the_program_is_built_without_sabotage_and_without_support_for_tests() {
    let arguments = ["tree", "--package", "baton", "--edges", "features,no-dev", "--offline", "--locked"];
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output().expect("cargo");
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(tree.contains("baton-engine"), "{tree}");
    for feature in ["sabotage", "test-support"] {
        assert!(!tree.contains(feature), "{tree}");
    }
}
