//! The scenarios that the picker offers: each is its file, words included. It runs none of them.

use super::{Scenario, ScenarioError, Words, decode};

mod files {
    use super::ScenarioId;
    include!(concat!(env!("OUT_DIR"), "/gallery.rs"));
}

/// A scenario of the picker: the `id` of its file, which is the file's name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioId(&'static str);

impl std::fmt::Debug for ScenarioId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl ScenarioId {
    /// Every scenario, in the order of the picker.
    pub const ALL: &'static [ScenarioId] = files::ALL;
    /// What is shown to someone who comes without a link; a test holds that it is there.
    pub const STORY: ScenarioId = ScenarioId("as-it-happened");

    /// The scenario of this id.
    pub fn named(id: &str) -> Option<ScenarioId> {
        ScenarioId::ALL.iter().copied().find(|known| known.0 == id)
    }

    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Its file.
    pub fn text(self) -> &'static str {
        files::FILES.iter().find(|(id, _)| *id == self.0).map_or("", |(_, text)| text)
    }

    /// The scenario.
    ///
    /// # Errors
    /// None for the files as they are; a test holds them to it.
    pub fn scenario(self) -> Result<Scenario, ScenarioError> {
        decode(self.text())
    }

    /// Its title in a language.
    pub fn title(self, lang: &str) -> String {
        self.words(lang, |scenario| scenario.title).unwrap_or_else(|| self.0.into())
    }

    /// What it shows, in a language.
    pub fn about(self, lang: &str) -> String {
        self.words(lang, |scenario| scenario.about).unwrap_or_default()
    }

    fn words(self, lang: &str, of: impl Fn(Scenario) -> Option<Words>) -> Option<String> {
        of(self.scenario().ok()?).map(|words| words.of(lang))
    }

    /// Which scenario of the picker this is, if it is one unchanged, words included: a title of someone else's is not
    /// the gallery's.
    pub fn of(scenario: &Scenario) -> Option<ScenarioId> {
        // Links of before its author said something along the script are still of this scenario.
        let same = |known: Scenario| known == *scenario || known.without_words() == *scenario;
        ScenarioId::ALL.iter().copied().find(|id| id.scenario().is_ok_and(same))
    }
}
