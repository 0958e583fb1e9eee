//! Animation frames. Knows nothing of what is drawn and keeps no time of its own.
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

type Tick = Closure<dyn FnMut(f64)>;

/// Calls back once a frame for as long as it lives and is running. A hidden page gets no frames from the browser.
pub struct Frames {
    running: Rc<Cell<bool>>,
    request: Rc<Cell<Option<i32>>>,
    tick: Rc<RefCell<Option<Tick>>>,
}

impl Frames {
    /// `on_frame` gets the milliseconds since the frame before, 0 on the first, however long that was: who plays takes
    /// no more of it than is good, and sees that a frame was late.
    pub fn start(on_frame: impl Fn(f64) + 'static) -> Frames {
        let running = Rc::new(Cell::new(true));
        let request = Rc::new(Cell::new(None));
        let tick: Rc<RefCell<Option<Tick>>> = Rc::new(RefCell::new(None));
        let last: Cell<Option<f64>> = Cell::new(None);
        let (again, live, asked) = (tick.clone(), running.clone(), request.clone());
        *tick.borrow_mut() = Some(Closure::new(move |now: f64| {
            asked.set(None);
            if !live.get() || super::panic::has_stopped() {
                return;
            }
            let passed = last.replace(Some(now)).map_or(0.0, |l| (now - l).max(0.0));
            on_frame(passed);
            if live.get() {
                asked.set(ask(&again));
            }
        }));
        request.set(ask(&tick));
        Frames { running, request, tick }
    }
}

fn ask(tick: &Rc<RefCell<Option<Tick>>>) -> Option<i32> {
    let borrowed = tick.borrow();
    let closure = borrowed.as_ref()?;
    web_sys::window()?.request_animation_frame(closure.as_ref().unchecked_ref()).ok()
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.running.set(false);
        if let (Some(w), Some(id)) = (web_sys::window(), self.request.take()) {
            let _ = w.cancel_animation_frame(id);
        }
        // Dropped from within its own call, the closure is still borrowed by nobody: the frame has ended its use of it.
        if let Ok(mut t) = self.tick.try_borrow_mut() {
            let closure = t.take();
            if let Some(c) = closure {
                // A frame that is running now must not free the code that it runs.
                drop_later(c);
            }
        }
    }
}

/// Lets a closure live until the current call is over.
fn drop_later(closure: Tick) {
    gloo_timers::callback::Timeout::new(0, move || drop(closure)).forget();
}

/// Milliseconds since the page was opened: for rate limits of the page, never for the run.
pub fn now_ms() -> f64 {
    web_sys::window().and_then(|w| w.performance()).map_or(0.0, |p| p.now())
}
