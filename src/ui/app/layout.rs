//! How the root lays its parts out: wide, on a phone, embedded. It changes nothing and asks for nothing by itself.
mod embed;

use super::*;

/// Height of the header, and what a scroll bar takes where it takes anything.
const HEADER: u32 = 48;
/// Height of the line that says what is going on.
const CAPTION: u32 = 30;
const SCROLL_BAR: u32 = 16;
/// Height of a window that has few rows.
const LOW: u32 = 740;

impl App {
    /// The words of the verdict that was asked about.
    fn why_title(&self) -> Option<AttrValue> {
        let chain = self.why.as_ref()?;
        let Subject::Verdict(i) = &chain.about else { return None };
        let card = self.views.promises.verdicts.get(*i)?;
        Some(self.lang.words().why_verdict(&card.verdict).into())
    }

    fn transport(&self, narrow: bool, going: bool) -> Html {
        let p = &self.views.playback;
        html! {
            <Transport
                playing={p.playing} at_start={p.at_start} can_skip={p.can_skip} pace={p.pace} step={p.step} {narrow}
                {going}
            />
        }
    }

    /// What the stage has of a wide page: what panels and time leave of it.
    fn room(&self) -> Room {
        let (width, height) = self.window;
        // The styles make the stage larger on large screens, in tenths, and time higher.
        let (zoom, time) = match width {
            0..1_800 if self.is_low() => (10, 164),
            0..1_800 => (10, 190),
            1_800..2_600 => (12, 232),
            _ => (17, 330),
        };
        let panel = |open: bool, wide: u32| if open { wide } else { 44 };
        let (left, right) = match width {
            0..=1_180 => (44, panel(!self.panel_folded, 312)),
            1_181..1_800 => (panel(!self.folded, 248), panel(!self.panel_folded, 312)),
            _ => (panel(!self.folded, 280), panel(!self.panel_folded, 380)),
        };
        Room {
            width: width.saturating_sub(left + right + SCROLL_BAR) * 10 / zoom,
            height: height.saturating_sub(HEADER + CAPTION + time) * 10 / zoom,
            bar: SCROLL_BAR * 10 / zoom,
        }
    }

    fn is_low(&self) -> bool {
        self.window.1 <= LOW
    }

    fn stage(&self, room: Room) -> Html {
        html! {
            <Stage
                scene={self.views.scene.clone()} selected={self.selected.clone()}
                playing={self.views.playback.playing} {room}
            />
        }
    }

    fn phone_stage(&self) -> Html {
        html! {
            <PhoneStage
                scene={self.views.scene.clone()} column={self.phone_column} selected={self.selected.clone()}
            />
        }
    }

    fn notes(&self, options: &ViewOptions) -> Html {
        let w = self.lang.words();
        let differs = self.desk.read().digest_check() == DigestCheck::Different;
        let close = self.ask.reform(|_: MouseEvent| Ask::CloseError);
        html! {
            <>
                if differs { <p class="note-bar warn" role="alert">{ w.label(Label::DigestDiffers) }</p> }
                if !options.refused.is_empty() && !self.options_read {
                    <p class="note-bar" role="status">
                        { w.options_refused(&options.refused.iter().map(|o| shown(o)).collect::<Vec<_>>()) }
                        { " " }
                        <button type="button" class="btn small" onclick={close.clone()}>
                            { w.label(Label::Close) }
                        </button>
                    </p>
                }
                if let Some(r) = &self.refused {
                    <p class="note-bar" role="alert">
                        { r }
                        { " " }
                        <button type="button" class="btn small" onclick={close}>{ w.label(Label::Close) }</button>
                    </p>
                }
            </>
        }
    }

    /// A run that came by a link: nobody of the gallery vouches for it.
    fn is_shared(&self) -> bool {
        match self.views.scene.origin {
            Origin::Gallery { .. } => false,
            Origin::Link { .. } => true,
        }
    }

    /// What the author says and asks; `silent`: what he says stands elsewhere.
    fn story(&self, silent: bool) -> Html {
        html! { <StoryCard board={self.views.board.clone()} guess={self.guess.clone()} {silent} /> }
    }

    /// The messages that are drawn in the lanes: the chosen one, and while time stands still those that can be met.
    fn ways(&self) -> Vec<LaneWay> {
        let (lanes, scene) = (&self.views.lanes, &self.views.scene);
        let is_chosen = |f: &Flight| self.selected == Some(Subject::Message(f.id));
        let is_met = |f: &Flight| !self.views.playback.playing && is_wide(f, lanes.window);
        let flights = self.desk.read().motion().flights;
        let drawn = flights.iter().filter(|f| is_chosen(f) || is_met(f));
        drawn.filter_map(|f| LaneWay::of(f, is_chosen(f), lanes, &scene.groups)).collect()
    }

    fn lanes(&self) -> Html {
        html! {
            <LanesView
                lanes={self.views.lanes.clone()} end_us={self.views.playback.end_us} lit={self.lit.clone()}
                messages={self.ways()} low={self.is_low()}
            />
        }
    }

    /// Time stands first in the document, so that play is among the first stops of Tab; the styles put it below.
    pub(super) fn wide(&self, ctx: &Context<Self>, ui: &Ui) -> Html {
        // Beside what was chosen there is no room for it.
        let story = self.tab == Tab::Promises && !self.why_open;
        let story = if story { self.story(false) } else { Html::default() };
        let can_undo = self.views.playback.can_undo;
        let worst = self.views.promises.verdicts.first().map(|v| v.verdict.clone());
        html! {
            <div
                class={classes!(
                    "page", self.folded.then_some("folded"), self.panel_folded.then_some("panel-folded"),
                    self.is_shared().then_some("shared")
                )}
                aria-busy={self.busy()}
            >
                <section class="bottom" aria-label={ui.label(Label::TimeAndRuns)}>
                    <div class="bottom-left">
                        { self.transport(false, false) }
                        { branches(ui, &self.views.lanes.branches) }
                    </div>
                    { self.lanes() }
                </section>
                <Header scene={self.views.scene.clone()} theme={self.theme} {can_undo} />
                <main>
                    { self.notes(&ctx.props().options) }
                    <div class="middle">
                        <SettingsPanel settings={self.views.settings.clone()} folded={self.folded} />
                        <div class="stage-column">
                            <Caption selected={self.selected.clone()} />
                            { self.stage(self.room()) }
                        </div>
                        <Panel
                            content={self.views.content.clone()} why={self.why.clone()} why_title={self.why_title()}
                            why_open={self.why_open} folded={self.panel_folded} {worst} {story}
                        />
                    </div>
                </main>
            </div>
        }
    }

    pub(super) fn phone(&self, ctx: &Context<Self>, ui: &Ui) -> Html {
        let can_undo = self.views.playback.can_undo;
        let tabs = [
            (PhoneTab::Stage, Label::Stage),
            (PhoneTab::Panel, Label::Promises),
            (PhoneTab::Settings, Label::Settings),
            (PhoneTab::Log, Label::Log),
        ];
        let sheet = match self.phone_tab {
            PhoneTab::Stage => self.phone_stage(),
            PhoneTab::Panel => self.phone_panel(ui),
            PhoneTab::Settings => html! {
                <>
                    <h2 class="hidden">{ ui.label(Label::Settings) }</h2>
                    <div class="phone-menus">
                        <PaceMenu pace={self.views.playback.pace} /><StepMenu step={self.views.playback.step} />
                    </div>
                    <SettingsList settings={self.views.settings.clone()} />
                </>
            },
            PhoneTab::Log => html! { <PanelBody content={self.views.content.clone()} /> },
        };
        html! {
            <div
                class={classes!("page", "phone", self.is_shared().then_some("shared"))} aria-busy={self.busy()}
            >
                <section class="bottom phone-bottom" aria-label={ui.label(Label::TimeAndRuns)}>
                    <Caption selected={self.selected.clone()} short=true />
                    <Strip lanes={self.views.lanes.clone()} end_us={self.views.playback.end_us} />
                    { self.transport(true, false) }
                </section>
                <Header scene={self.views.scene.clone()} theme={self.theme} narrow=true {can_undo} />
                <main>
                    { self.notes(&ctx.props().options) }
                    <div class="phone-scenario">
                        <ScenarioPicker origin={self.views.scene.origin.clone()} />
                        if self.is_shared() { <p><b>{ ui.label(Label::SharedScenario) }</b></p> }
                        <p class="muted">{ self.sentence(ui) }</p>
                    </div>
                    { self.story(true) }
                    <FirstVerdict promises={self.views.promises.clone()} />
                    <nav class="phone-tabs" aria-label={ui.label(Label::Panel)}>
                        { for tabs.into_iter().map(|(t, l)| {
                            let on = t == self.phone_tab;
                            html! {
                                <button
                                    type="button" class={classes!("btn", on.then_some("on"))}
                                    aria-current={on.then_some("page")} onclick={ui.on(Ask::PhoneTab(t))}
                                >{ ui.label(l) }</button>
                            }
                        }) }
                    </nav>
                    <div class="sheet">{ sheet }</div>
                </main>
            </div>
        }
    }

    /// Promises, inspector and text, and the chain of causes once there is one: one of them at a time.
    fn phone_panel(&self, ui: &Ui) -> Html {
        let chip = |on: bool, l: Label, ask: Ask| {
            html! {
                <button
                    type="button" class={classes!("chip", on.then_some("on"))} aria-pressed={on.to_string()}
                    onclick={ui.on(ask)}
                >{ ui.label(l) }</button>
            }
        };
        let open = self.why.as_ref().filter(|_| self.why_open);
        html! {
            <>
                <div class="phone-views">
                    { for [Tab::Promises, Tab::Inspect, Tab::Text].into_iter().map(|t| {
                        chip(open.is_none() && self.tab == t, t.label(), Ask::Show(t))
                    }) }
                    if self.why.is_some() { { chip(open.is_some(), Label::Why, Ask::ShowWhy) } }
                </div>
                if let Some(chain) = open { <WhyCard chain={chain.clone()} title={self.why_title()} /> }
                else { <PanelBody content={self.views.content.clone()} /> }
            </>
        }
    }

    /// What the author says here, else what he says of the whole.
    fn sentence(&self, ui: &Ui) -> String {
        let about = || match self.views.scene.origin {
            Origin::Gallery { id, .. } => ui.words().scenario_about(id),
            Origin::Link { .. } => String::new(),
        };
        self.views.board.said.as_ref().map_or_else(about, |said| prose(ui, said))
    }

    pub(super) fn dialogs(&self, ctx: &Context<Self>) -> Html {
        match self.dialog {
            None => Html::default(),
            Some(Dialog::Keys) => html! { <KeysDialog single_keys={self.single_keys} /> },
            Some(Dialog::Share) => {
                let (share, check) = (self.desk.read().share(), self.desk.read().digest_check());
                html! {
                    <ShareDialog {share} {check} at_us={self.views.playback.at_us} base={ctx.props().base.clone()} />
                }
            }
        }
    }
}

/// The runs that are kept, once there is more than one.
fn branches(ui: &Ui, all: &[BranchView]) -> Html {
    if all.len() < 2 {
        return Html::default();
    }
    let w = ui.words();
    let send = ui.ask.clone();
    let ids: Vec<BranchId> = all.iter().map(|b| b.id).collect();
    let change = Callback::from(move |e: Event| {
        let id = web::chosen_value(&e).and_then(|v| v.parse::<usize>().ok()).and_then(|i| ids.get(i).copied());
        if let Some(id) = id {
            send.emit(Ask::Do(Command::SelectBranch(id)));
        }
    });
    let current = all.iter().find(|b| b.current && b.parent.is_some());
    let rename = current.map(|b| {
        let (send, id) = (ui.ask.clone(), b.id);
        let change = Callback::from(move |e: Event| {
            if let Some(name) = web::chosen_value(&e) {
                send.emit(Ask::Do(Command::NameBranch(id, name)));
            }
        });
        html! {
            <input
                class="run-name" type="text" maxlength="40" aria-label={w.label(Label::NameBranch)}
                placeholder={w.label(Label::NameBranch)} value={b.name.clone().unwrap_or_default()} onchange={change}
            />
        }
    });
    html! {
        <>
        <label class="now runs"><span>{ w.label(Label::Branches) }</span>
            <select onchange={change}>
                { for all.iter().enumerate().map(|(i, b)| html! {
                    <option value={i.to_string()} selected={b.current}>{ w.branch(b) }</option>
                }) }
            </select>
        </label>
        { rename }
        </>
    }
}
