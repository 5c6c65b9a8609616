//! Lets a background thread give way in the middle of a text. A forward pass takes milliseconds, which is long for someone who
//! waits for an answer.

use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static GIVE_WAY: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Runs `work` on this thread. Between two layers of the model it calls `give_way`, which may wait.
pub fn giving_way<T>(give_way: impl Fn() + 'static, work: impl FnOnce() -> T) -> T {
    GIVE_WAY.replace(Some(Rc::new(give_way)));
    let done = work();
    GIVE_WAY.take();
    done
}

/// Gives way if this thread is in [`giving_way`].
pub(super) fn between_layers() {
    let give_way = GIVE_WAY.with_borrow(Option::clone);
    if let Some(give_way) = give_way {
        give_way();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::embed::{Embedder, MiniLm};

    #[test]
    fn a_text_gives_way_between_layers_and_keeps_its_vector() {
        let model = MiniLm::bundled().unwrap();
        let alone = model.vector("the queue is drained");
        let times = Rc::new(Cell::new(0));
        let counted = Rc::clone(&times);
        let vector = giving_way(move || counted.set(counted.get() + 1), || model.vector("the queue is drained"));
        assert_eq!((vector, times.get()), (alone, 6), "{}", model.model());
        model.vector("another text");
        assert_eq!(times.get(), 6, "only inside");
    }
}
