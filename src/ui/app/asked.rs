//! What the root does when it is asked for something: commands go to the desk, everything else changes what is shown.
//! It deliberately draws nothing.
use super::*;

impl App {
    pub(super) fn ask(&mut self, ctx: &Context<Self>, ask: Ask) -> bool {
        match ask {
            Ask::Do(c) => self.command(ctx, c),
            Ask::Scenario(id) => self.command(ctx, Command::OpenScenario(id)),
            Ask::Select(s) if ctx.props().embed => {
                // One line says what it is; a second tap closes it.
                self.selected = (self.selected.as_ref() != Some(&s)).then_some(s);
                true
            }
            Ask::WalkMessages { forward } => self.walk_messages(ctx, forward),
            Ask::ToStage => {
                web::focus_first("[data-cell][tabindex='0']");
                false
            }
            Ask::CloseChosen => {
                let was = self.selected.take().is_some();
                if was {
                    self.refresh(true);
                }
                was
            }
            Ask::Select(s) => {
                if matches!(s, Subject::Message(_)) && self.views.playback.playing {
                    // What was chosen must not fly away.
                    let _ = self.desk.write().handle(Command::Pause);
                    self.frames = None;
                }
                if let Subject::Group(g) = &s {
                    // Its partition of the offsets topic is outlined from now on; a group that is gone changes nothing.
                    let _ = self.desk.write().handle(Command::SelectGroup(g.clone()));
                }
                self.selected = Some(s);
                self.show(Tab::Inspect);
                self.tell_chosen(ctx);
                true
            }
            Ask::Why(s) => {
                self.why = self.desk.read().why(&s).map(Rc::new);
                let lit = self.why.iter().flat_map(|c| c.steps.iter().filter_map(|x| x.trace)).collect();
                self.lit = Rc::new(lit);
                self.why_open = self.why.is_some();
                self.panel_folded = false;
                if self.narrow {
                    self.phone_tab = PhoneTab::Panel;
                }
                true
            }
            Ask::ShowWhy => {
                self.why_open = self.why.is_some();
                true
            }
            Ask::CloseWhy => {
                self.why = None;
                self.why_open = false;
                self.lit = Rc::default();
                true
            }
            Ask::Show(t) => {
                self.show(t);
                true
            }
            Ask::OpenDialog(d) => {
                self.dialog = Some(d);
                true
            }
            Ask::CloseDialog => self.dialog.take().is_some(),
            Ask::CloseError => {
                self.error = None;
                self.refused = None;
                self.options_read = true;
                true
            }
            Ask::SetLanguage(l) => {
                self.lang = l;
                crate::apply_language(l);
                web::save("lang", l.short());
                self.said.clear();
                true
            }
            Ask::SetTheme(t) => {
                self.theme = t;
                crate::apply_theme(t);
                web::save("theme", t.id());
                true
            }
            Ask::FoldSettings(f) => {
                self.folded = f;
                true
            }
            Ask::FoldPanel(f) => {
                self.panel_folded = f;
                true
            }
            Ask::Filter(f) => {
                self.filter = f;
                self.refresh(true);
                true
            }
            Ask::Zoom(z) => {
                self.zoom = z;
                self.refresh(true);
                true
            }
            Ask::PhoneTab(t) => {
                self.phone_tab = t;
                self.refresh(true);
                true
            }
            Ask::PhoneColumn(c) => {
                self.phone_column = c;
                true
            }
            Ask::Guess(choice) => {
                let Some(asked) = self.views.board.asked.as_ref() else { return false };
                if asked.answered != Answered::Open || choice >= asked.choices.len() {
                    return false;
                }
                self.guess = Some((asked.id.clone(), choice));
                true
            }
            Ask::SingleKeys(on) => {
                self.single_keys = on;
                web::save("single-keys", if on { "on" } else { "off" });
                true
            }
        }
    }

    /// Those who listen hear of the chosen message what stands over the stage.
    fn tell_chosen(&mut self, ctx: &Context<Self>) {
        let ui = self.ui(ctx);
        if let Some(m) = chosen(&ui, self.selected.as_ref()) {
            self.said = ui.words().sentences(&said(&ui, &m));
        }
    }

    /// Time stands still while one goes from message to message.
    fn walk_messages(&mut self, ctx: &Context<Self>, forward: bool) -> bool {
        let flights = self.desk.read().motion().flights;
        let chosen = |f: &Flight| self.selected == Some(Subject::Message(f.id));
        let n = flights.len();
        let next = match flights.iter().position(chosen) {
            Some(at) if forward => (at + 1) % n,
            Some(at) => (at + n - 1) % n,
            None => 0,
        };
        match flights.get(next) {
            Some(flight) => self.ask(ctx, Ask::Select(Subject::Message(flight.id))),
            None => false,
        }
    }

    fn show(&mut self, t: Tab) {
        self.tab = t;
        self.why_open = false;
        self.panel_folded = false;
        if self.narrow {
            self.phone_tab = PhoneTab::Panel;
        }
        self.refresh(true);
    }

    pub(super) fn run_frames(&mut self, ctx: &Context<Self>) {
        if self.frames.is_none() {
            let link = ctx.link().clone();
            self.frames = Some(web::Frames::start(move |ms| link.send_message(Msg::Frame(ms))));
        }
    }

    fn command(&mut self, ctx: &Context<Self>, c: Command) -> bool {
        let dragging = matches!(c, Command::Scrub { .. });
        let opens = matches!(c, Command::OpenLink(_) | Command::OpenScenario(_) | Command::PreviousRun);
        web::remember_moment(moment(self.views.playback.at_us));
        self.dragging = dragging;
        self.turn.of_command();
        let outcome = self.desk.write().handle(c);
        self.refused = None;
        let opened = !matches!(outcome, Outcome::NotOpened(_));
        match outcome {
            Outcome::Done | Outcome::Branched(_) => {}
            Outcome::NewRun => {
                // What was chosen belongs to the run before.
                self.selected = None;
                self.zoom = None;
                self.why = None;
                self.why_open = false;
                self.lit = Rc::default();
                self.heard = None;
            }
            Outcome::Refused(r) => {
                let words = self.lang.words().refused(&r);
                self.said = words.clone();
                self.refused = Some(words);
            }
            Outcome::NotOpened(e) => self.error = Some(e),
        }
        if opens && self.refused.is_none() {
            self.selected = None;
            self.guess = None;
            // What was said of another link says nothing of this one.
            if opened {
                self.error = None;
            }
        }
        let playback = self.desk.read().playback();
        if self.stays_underway(playback) {
            self.run_frames(ctx);
            return true;
        }
        self.refresh(!dragging);
        self.pulse.beat();
        if self.views.playback.playing {
            self.run_frames(ctx);
        } else {
            self.frames = None;
            if !dragging {
                self.write_address();
            }
        }
        true
    }
}
