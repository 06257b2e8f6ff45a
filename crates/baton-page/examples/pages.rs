//! Writes sample pages and their static files into a folder, so that somebody can look at them:
//! `cargo run --workspace --example pages -- FOLDER`.

#[path = "../tests/samples/mod.rs"]
mod samples;

use std::fs;
use std::path::Path;

use baton_page::assets;
use baton_page::layout::Theme;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "pages".to_owned());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder.join("static"))?;
    for file in assets::all() {
        fs::write(folder.join(file.address.trim_start_matches('/')), file.text)?;
    }
    for (name, text) in samples::texts("") {
        fs::write(folder.join(format!("{name}.txt")), text)?;
    }
    let long = samples::long("long-1", 600);
    for theme in Theme::ALL {
        let viewer = samples::viewer(3, theme);
        let long = samples::with_run(&long, None, |page| baton_page::run::page(&viewer, page));
        for (name, page) in samples::pages(theme, "").into_iter().chain([("run-long", long)]) {
            // Opened as files, pages find their static files beside them.
            // Without the script, times are told from the time of the samples.
            let page =
                page.into_string().replace("\"/static/", "\"static/").replace("<script type=\"module\"", "<template");
            let page = page.replace("</script>", "</template>").replace("<html ", "<html data-script ");
            fs::write(folder.join(format!("{name}-{}.html", theme.as_str())), page)?;
        }
    }
    Ok(())
}
