//! What the author of a scenario says, and his question: answered before it happens, judged by what the run then shows.
//! It judges nothing by itself and never keeps time from going on.
use super::context::{Ask, Ui, use_ui};
use super::words::{Label, shown};
use highwater_studio::view::model::*;
use yew::prelude::*;

/// An answer as it was given: the question's id and the number of the choice.
pub type Guess = (String, usize);

#[derive(PartialEq, Properties)]
pub struct StoryProps {
    pub board: Storyboard,
    #[prop_or_default]
    pub guess: Option<Guess>,
    /// What the author says stands elsewhere; the question alone is shown.
    #[prop_or_default]
    pub silent: bool,
}

/// The author's words in the page's language.
pub fn prose(ui: &Ui, words: &Prose) -> String {
    shown(&words.of(ui.words().tag()))
}

/// What was answered, if it was this question.
pub fn answer(asked: &QuestionView, guess: Option<&Guess>) -> Option<usize> {
    guess.filter(|(id, _)| *id == asked.id).map(|(_, choice)| *choice).filter(|choice| *choice < asked.choices.len())
}

/// Whether there is anything to show of a question.
fn is_asking(board: &Storyboard, guess: Option<&Guess>) -> bool {
    board.asked.as_ref().is_some_and(|asked| asked.answered == Answered::Open || answer(asked, guess).is_some())
}

/// Where one line is all that there is for it: whether the answer was right.
pub fn judged(ui: &Ui, board: &Storyboard, guess: Option<&Guess>) -> Option<String> {
    let asked = board.asked.as_ref()?;
    let mine = answer(asked, guess)?;
    let Answered::Shown { right, .. } = &asked.answered else { return None };
    Some(ui.words().judged(*right == Some(mine), &prose(ui, &asked.choices.get(mine)?.0)))
}

#[component]
pub fn StoryCard(props: &StoryProps) -> Html {
    let ui = use_ui();
    let asked = props.board.asked.as_ref().filter(|_| is_asking(&props.board, props.guess.as_ref()));
    let said = props.board.said.as_ref().filter(|_| !props.silent);
    if asked.is_none() && said.is_none() {
        return Html::default();
    }
    html! {
        <section class="story" aria-label={ui.label(Label::StoryCard)}>
            if let Some(said) = said { <p class="said">{ prose(&ui, said) }</p> }
            if let Some(asked) = asked { { question(&ui, asked, props.guess.as_ref()) } }
        </section>
    }
}

fn question(ui: &Ui, asked: &QuestionView, guess: Option<&Guess>) -> Html {
    let w = ui.words();
    let mine = answer(asked, guess);
    let text = |choice: usize| asked.choices.get(choice).map_or_else(String::new, |(text, _)| prose(ui, text));
    let (Some(mine), Answered::Shown { right, stopped, going_on }) = (mine, &asked.answered) else {
        return match (mine, &asked.answered) {
            (Some(mine), Answered::NotYet) => html! {
                <p><b>{ text(mine) }</b>{ " · " }<span class="muted">{ w.label(Label::GuessWaits) }</span></p>
            },
            (_, Answered::Open | Answered::NotYet | Answered::Shown { .. }) => choices(ui, asked, mine),
        };
    };
    let hit = *right == Some(mine);
    let why = asked.choices.get(mine).and_then(|(_, why)| why.as_ref());
    html! {
        <div class={classes!("judged", if hit { "good" } else { "uneasy" })} role="status">
            <p><b>{ w.judged(hit, &text(mine)) }</b></p>
            <p>{ w.clients_now(stopped, going_on) }</p>
            if let Some(why) = why { <p>{ prose(ui, why) }</p> }
        </div>
    }
}

/// The answers, to be chosen until what they are about has begun.
fn choices(ui: &Ui, asked: &QuestionView, mine: Option<usize>) -> Html {
    html! {
        <div role="group" aria-labelledby="question">
            <p class="question" id="question"><b>{ prose(ui, &asked.text) }</b></p>
            <ol class="choices">
                { for asked.choices.iter().enumerate().map(|(i, (text, _))| html! {
                    <li>
                        <button
                            type="button" class={classes!("btn", (mine == Some(i)).then_some("on"))}
                            aria-pressed={(mine == Some(i)).to_string()} onclick={ui.on(Ask::Guess(i))}
                        >
                            <kbd aria-hidden="true">{ (i + 1).to_string() }</kbd>{ prose(ui, text) }
                        </button>
                    </li>
                }) }
            </ol>
            if mine.is_some() {
                <p class="muted taken" role="status">{ ui.label(Label::GuessTaken) }</p>
            }
        </div>
    }
}
