//! Runs independent jobs on several threads and gives their results in the order of the jobs. Shares nothing between
//! them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `job(0)` to `job(count - 1)`.
pub fn each<T: Send>(count: usize, threads: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = job(index);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What a panicking job said.
pub fn words(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 7] {
            assert_eq!(each(100, threads, |i| i * i), (0..100).map(|i| i * i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_jobs_give_no_results() {
        assert_eq!(each(0, 4, |i| i), Vec::<usize>::new());
    }
}
