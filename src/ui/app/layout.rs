//! How the root lays its parts out: wide, on a phone, embedded. It changes nothing and asks for nothing by itself.
use super::*;

impl App {
    /// The words of the verdict that was asked about.
    fn why_title(&self) -> Option<AttrValue> {
        let chain = self.why.as_ref()?;
        let Subject::Verdict(i) = &chain.about else { return None };
        let card = self.views.promises.verdicts.get(*i)?;
        Some(self.lang.words().why_verdict(&card.verdict).into())
    }

    fn transport(&self, narrow: bool) -> Html {
        let p = &self.views.playback;
        html! { <Transport playing={p.playing} at_start={p.at_start} can_skip={p.can_skip} pace={p.pace} step={p.step} {narrow} /> }
    }

    fn stage(&self) -> Html {
        html! { <Stage scene={self.views.scene.clone()} selected={self.selected.clone()} playing={self.views.playback.playing} /> }
    }

    fn notes(&self) -> Html {
        let w = self.lang.words();
        let differs = self.desk.read().digest_check() == DigestCheck::Different;
        html! {
            <>
                if differs { <p class="note-bar warn" role="alert">{ w.label(Label::DigestDiffers) }</p> }
                if let Some(r) = &self.refused {
                    <p class="note-bar" role="alert">{ r }{ " " }<button type="button" class="btn small" onclick={self.ask.reform(|_: MouseEvent| Ask::CloseError)}>{ w.label(Label::Close) }</button></p>
                }
            </>
        }
    }

    fn lanes(&self) -> Html {
        html! { <LanesView lanes={self.views.lanes.clone()} end_us={self.views.playback.end_us} lit={self.lit.clone()} /> }
    }

    pub(super) fn wide(&self, ui: &Ui) -> Html {
        html! {
            <div class={classes!("page", self.folded.then_some("folded"))}>
                <Header scene={self.views.scene.clone()} theme={self.theme} />
                <main>
                    { self.notes() }
                    <div class="middle">
                        <SettingsPanel settings={self.views.settings.clone()} folded={self.folded} />
                        { self.stage() }
                        <Panel content={self.views.content.clone()} why={self.why.clone()} why_title={self.why_title()} />
                    </div>
                    <div class="bottom">
                        <div class="bottom-left">
                            { self.transport(false) }
                            { branches(ui, &self.views.lanes.branches) }
                        </div>
                        { self.lanes() }
                    </div>
                </main>
            </div>
        }
    }

    pub(super) fn embed(&self, ctx: &Context<Self>, ui: &Ui) -> Html {
        let href = link(&ctx.props().base, &self.out_link, self.lang.short());
        let stage = if self.narrow {
            html! { <PhoneStage scene={self.views.scene.clone()} column={self.phone_column} selected={self.selected.clone()} /> }
        } else {
            self.stage()
        };
        html! {
            <main class="page embedded">
                <h1 class="hidden">{ "Highwater" }</h1>
                { self.notes() }
                { stage }
                <div class="bottom embed-bottom">
                    { self.transport(true) }
                    <a class="btn small" {href} target="_blank" rel="noopener">{ ui.label(Label::OpenInHighwater) }</a>
                    <Strip lanes={self.views.lanes.clone()} end_us={self.views.playback.end_us} />
                </div>
            </main>
        }
    }

    pub(super) fn phone(&self, ui: &Ui) -> Html {
        let tabs = [
            (PhoneTab::Stage, Label::Stage),
            (PhoneTab::Panel, Label::Promises),
            (PhoneTab::Settings, Label::Settings),
            (PhoneTab::Log, Label::Log),
        ];
        let sheet = match self.phone_tab {
            PhoneTab::Stage => {
                html! { <PhoneStage scene={self.views.scene.clone()} column={self.phone_column} selected={self.selected.clone()} /> }
            }
            PhoneTab::Panel => html! {
                <>
                    if let Some(chain) = &self.why { <WhyCard chain={chain.clone()} title={self.why_title()} /> }
                    <div class="phone-views">
                        { for [Tab::Promises, Tab::Inspect, Tab::Text].into_iter().map(|t| html! {
                            <button type="button" class={classes!("chip", (self.tab == t).then_some("on"))} aria-pressed={(self.tab == t).to_string()} onclick={ui.on(Ask::Show(t))}>{ ui.label(t.label()) }</button>
                        }) }
                    </div>
                    <PanelBody content={self.views.content.clone()} />
                </>
            },
            PhoneTab::Settings => html! {
                <>
                    <h2 class="hidden">{ ui.label(Label::Settings) }</h2>
                    <div class="phone-pickers"><ScenarioPicker origin={self.views.scene.origin.clone()} /><LanguagePicker /></div>
                    <div class="phone-menus"><PaceMenu pace={self.views.playback.pace} /><StepMenu step={self.views.playback.step} /></div>
                    <SettingsList settings={self.views.settings.clone()} />
                </>
            },
            PhoneTab::Log => html! { <PanelBody content={self.views.content.clone()} /> },
        };
        html! {
            <div class="page phone">
                <Header scene={self.views.scene.clone()} theme={self.theme} narrow=true />
                <main>
                    { self.notes() }
                    <FirstVerdict promises={self.views.promises.clone()} />
                    <nav class="phone-tabs" aria-label={ui.label(Label::Panel)}>
                        { for tabs.into_iter().map(|(t, l)| {
                            let on = t == self.phone_tab;
                            html! { <button type="button" class={classes!("btn", on.then_some("on"))} aria-current={on.then_some("page")} onclick={ui.on(Ask::PhoneTab(t))}>{ ui.label(l) }</button> }
                        }) }
                    </nav>
                    <div class="sheet">{ sheet }</div>
                </main>
                <section class="bottom phone-bottom" aria-label={ui.label(Label::Lanes)}>
                    <Strip lanes={self.views.lanes.clone()} end_us={self.views.playback.end_us} />
                    { self.transport(true) }
                </section>
            </div>
        }
    }

    pub(super) fn dialogs(&self, ctx: &Context<Self>) -> Html {
        match self.dialog {
            None => Html::default(),
            Some(Dialog::Keys) => html! { <KeysDialog single_keys={self.single_keys} /> },
            Some(Dialog::Share) => {
                let (share, check) = (self.desk.read().share(), self.desk.read().digest_check());
                html! { <ShareDialog {share} {check} at_us={self.views.playback.at_us} base={ctx.props().base.clone()} /> }
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
        html! { <input class="run-name" type="text" maxlength="40" aria-label={w.label(Label::NameBranch)} placeholder={w.label(Label::NameBranch)} value={b.name.clone().unwrap_or_default()} onchange={change} /> }
    });
    html! {
        <>
        <label class="now runs"><span>{ w.label(Label::Branches) }</span>
            <select onchange={change}>
                { for all.iter().enumerate().map(|(i, b)| html! { <option value={i.to_string()} selected={b.current}>{ w.branch(b) }</option> }) }
            </select>
        </label>
        { rename }
        </>
    }
}
