//! The embed: title, verdict, stage and time in a frame of another page. It deliberately has no settings and no panel;
//! who wants more opens the page.
use super::*;
use crate::ui::header::UndoButton;
use crate::ui::marks;
use crate::ui::stage::about_line;
use crate::ui::transport::Countdown;
use crate::ui::words::Words;
use highwater_studio::view::model::NodeRef;

/// Heights of what stands around the stage: title, verdict, scrubber with buttons.
const AROUND: u32 = 40 + 52 + 102;

impl App {
    fn title(&self, w: &dyn Words) -> String {
        match &self.views.scene.origin {
            Origin::Gallery { id, changed: false } => w.scenario(*id),
            Origin::Gallery { id, changed: true } => {
                format!("{} ({})", w.scenario(*id), w.label(Label::ScenarioChanged))
            }
            Origin::Link { title: Some(t) } => shown(t),
            Origin::Link { title: None } => w.label(Label::SharedScenario).to_owned(),
        }
    }

    /// The first verdict with its cause and the question; one line high while every promise is kept.
    fn verdict_strip(&self, ui: &Ui) -> Html {
        let w = ui.words();
        let Some(v) = self.views.promises.verdicts.first() else { return Html::default() };
        let grade = crate::ui::panel::grade(&v.verdict);
        let board = &self.views.board;
        if board.asked.as_ref().is_some_and(|asked| asked.answered == Answered::Open) {
            return html! { <div class="story-strip">{ self.story(true) }</div> };
        }
        // There is no other place for it, and the verdict comes back with the next quiet moment.
        let now = self.views.playback.caption.as_ref().is_some_and(|caption| caption.now && caption.fact.is_some());
        if self.narrow && now {
            return html! { <div class="verdict-strip"><Caption /></div> };
        }
        html! {
            <section class={classes!("verdict-strip", grade.class())} aria-label={w.label(Label::Promises)}>
                <div>
                    <h2><span class="card-sign" aria-hidden="true">{ grade.sign() }</span>{ w.verdict(&v.verdict) }</h2>
                    if let Some(j) = judged(ui, board, self.guess.as_ref()) { <p class="judged-line">{ j }</p> }
                    else if let Some(c) = &v.cause { <p>{ w.cause(c) }</p> }
                    else if let Some(said) = &board.said { <p class="said">{ prose(ui, said) }</p> }
                </div>
                if v.has_why {
                    <button type="button" class="btn" onclick={ui.on(Ask::Why(Subject::Verdict(0)))}>
                        { w.label(Label::Why) }
                    </button>
                }
            </section>
        }
    }

    /// What a tap chose, in one line over the transport.
    fn chosen(&self, ui: &Ui) -> Html {
        let Some(s) = &self.selected else { return Html::default() };
        let message = chosen(ui, Some(s)).map(|m| said(ui, &m).join(" · "));
        html! {
            <p class="chosen-line" role="status">
                <span>{ message.unwrap_or_else(|| about_line(ui, &self.views.scene, s)) }</span>
                <button
                    type="button" class="btn square" aria-label={ui.label(Label::Close)}
                    onclick={ui.on(Ask::CloseChosen)}
                >{ "✕" }</button>
            </p>
        }
    }

    fn way_out(&self, ctx: &Context<Self>, ui: &Ui, class: &'static str) -> Html {
        if !ctx.props().options.links {
            return Html::default();
        }
        let href = link(&ctx.props().base, &self.out_link, self.lang.short());
        html! {
            <a {class} {href} target="_blank" rel="noopener noreferrer nofollow">
                { ui.label(Label::OpenInHighwater) }{ marks::out_icon() }
            </a>
        }
    }

    /// All that is left of the transport where the host page wants none: what moves can be stopped.
    fn pause_alone(&self, ui: &Ui) -> Html {
        if !self.views.playback.playing {
            return Html::default();
        }
        let name = ui.label(Label::Pause);
        html! {
            <button
                type="button" class="btn primary play" aria-label={name} title={name}
                onclick={ui.on_do(Command::Pause)}
            >{ marks::icon(marks::Icon::Pause) }</button>
        }
    }

    pub(in super::super) fn embed(&self, ctx: &Context<Self>, ui: &Ui) -> Html {
        let options = &ctx.props().options;
        let w = ui.words();
        let (width, height) = self.window;
        let room = Room { width, height: height.saturating_sub(AROUND), bar: 0 };
        let stage = if self.narrow { self.phone_stage() } else { self.stage(room) };
        let active = self.views.scene.controllers.iter().find(|c| c.role == QuorumRole::Active);
        let controls = options.shows(Part::Controls) && options.controls != Controls::None;
        let words = options.shows(Part::Log) || options.shows(Part::Text);
        let title = options.label.as_ref().map_or_else(|| self.title(w), |l| shown(l));
        html! {
            <main
                class={classes!("page", "embedded", self.narrow.then_some("narrow"),
                    self.is_shared().then_some("shared"))}
                aria-label={title.clone()} aria-busy={self.busy()}
            >
                <header class="embed-top">
                    <h1>{ marks::waves() }<bdi>{ title }</bdi></h1>
                    if self.is_shared() { <p class="shared-mark">{ w.label(Label::SharedScenario) }</p> }
                    <span class="grow" />
                    if ui.acts && self.views.playback.can_undo { <UndoButton /> }
                    if !self.narrow { { self.way_out(ctx, ui, "btn small") } }
                </header>
                <section class="bottom embed-bottom" aria-label={w.label(Label::TimeAndRuns)}>
                    <div class="over">{ self.notes(options) }{ self.chosen(ui) }</div>
                    if options.shows(Part::Timeline) {
                        <Strip lanes={self.views.lanes.clone()} end_us={self.views.playback.end_us} />
                    }
                    if controls { { self.transport(true, !self.narrow) } } else { { self.pause_alone(ui) } }
                    if self.narrow {
                        <p class="embed-foot">
                            if self.views.playback.awaiting.is_some() { <Countdown /> }
                            else if let Some(c) = active {
                                <span>{ marks::crown_icon() }{ w.active_controller(&NodeRef::Controller(c.id)) }</span>
                            }
                            <span class="grow" />
                            { self.way_out(ctx, ui, "linky") }
                        </p>
                    }
                </section>
                { self.verdict_strip(ui) }
                if options.shows(Part::Cluster) { { stage } }
                if words {
                    <section class="embed-words" tabindex="0" aria-label={w.label(self.tab.label())}>
                        <PanelBody content={self.views.content.clone()} />
                    </section>
                }
                if let Some(chain) = self.why.as_ref().filter(|_| self.why_open) {
                    <div class="embed-why"><WhyCard chain={chain.clone()} title={self.why_title()} /></div>
                }
            </main>
        }
    }
}
