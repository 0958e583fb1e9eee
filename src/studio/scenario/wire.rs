//! The verbs about one message: which one is meant, and what is done to it. Finds no message; the engine does.

use std::rc::Rc;

use highwater_engine::protocol::Api;
use serde_json::{Map, Value, json};

use super::error::{Problem, ScenarioError, nearest};
use super::model::{Deed, Verb, Which};
use super::object::{At as Here, Object};
use super::read::{self, MAX_COUNT};
use super::unit::duration_text;
use super::{verb, write};

type Result<T> = std::result::Result<T, ScenarioError>;

/// Words of `kind`.
const REQUEST: &str = "request";
const RESPONSE: &str = "response";

/// Reads which message is meant, and by `deed` what is done to it; `more` are the keys that this needs.
pub fn message(at: &Here<'_>, more: &[&'static str], deed: impl FnOnce(&Object<'_>) -> Result<Deed>) -> Result<Verb> {
    let known = [&["api", "kind", "from", "to", "nth"], more].concat();
    let object = at.object(&known, &[])?;
    let which = Which {
        api: api(&object.need("api")?)?,
        response: object.need("kind")?.one_of(&[REQUEST, RESPONSE])? == RESPONSE,
        from: object.optional("from", verb::node)?,
        to: object.optional("to", verb::node)?,
        nth: object.optional("nth", |at| at.int(1, i64::from(MAX_COUNT)))?.map_or(1, |nth| nth as u32),
    };
    Ok(Verb::Message { which, deed: deed(&object)? })
}

pub fn hold(object: &Object<'_>) -> Result<Deed> {
    let name = object.need("name")?;
    Ok(Deed::Hold { name: Rc::from(read::name(&name, name.text("a name to release it by")?)?) })
}

pub fn delay(object: &Object<'_>) -> Result<Deed> {
    Ok(Deed::Delay { by: read::duration(&object.need("by")?)? })
}

fn api(at: &Here<'_>) -> Result<Api> {
    const EXPECTED: &str = "the name of an API, such as \"Fetch\"";
    let text = at.text(EXPECTED)?;
    Api::ALL.iter().copied().find(|api| api.name() == text).ok_or_else(|| {
        let mut e = at.error(Problem::OutOfRange, EXPECTED);
        e.nearest = nearest(text, Api::ALL.iter().map(|api| api.name()));
        e
    })
}

/// The argument of such a verb.
pub fn argument(which: &Which, deed: &Deed) -> Value {
    let mut out = Map::new();
    out.insert("api".into(), which.api.name().into());
    out.insert("kind".into(), if which.response { RESPONSE } else { REQUEST }.into());
    for (key, end) in [("from", &which.from), ("to", &which.to)] {
        if let Some(node) = end {
            out.insert(key.into(), write::node(node));
        }
    }
    if which.nth != 1 {
        out.insert("nth".into(), json!(which.nth));
    }
    match deed {
        Deed::Hold { name } => drop(out.insert("name".into(), json!(&**name))),
        Deed::Delay { by } => drop(out.insert("by".into(), duration_text(*by).into())),
        Deed::Drop | Deed::Duplicate | Deed::Deliver => {}
    }
    Value::Object(out)
}
