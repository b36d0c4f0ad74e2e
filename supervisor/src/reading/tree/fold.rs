//! Siblings that look alike, folded to one.

use std::collections::HashMap;

use super::processes::{Processes, Step};

/// How each process looks, with all below it: those of one shape are not told apart.
#[derive(Debug)]
pub(super) struct Shapes {
    shapes: Vec<usize>,
    marked: Vec<bool>,
}

/// Siblings of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    /// The first of them, which is shown.
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) times: usize,
}

impl Shapes {
    /// The shapes of all processes.
    pub(super) fn of(processes: &Processes) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let count = processes.all().len();
        let mut shapes = Self {
            shapes: vec![0; count],
            marked: vec![false; count],
        };
        for at in lowest_first(processes) {
            let Some(process) = processes.get(at) else {
                continue;
            };
            let mut look = String::new();
            let mut is_marked = false;
            for step in &process.steps {
                match step {
                    Step::Exec(exec) => {
                        let Some(exec) = processes.exec(*exec) else {
                            continue;
                        };
                        is_marked |= exec.fate.is_marked();
                        look += &[exec.fate.word(), &exec.call, &exec.why(), "\n"].join("\t");
                    }
                    Step::Children(children) => {
                        for alike in shapes.fold(children) {
                            let shape = shapes.shapes.get(alike.first).copied().unwrap_or(0);
                            is_marked |= shapes.is_marked(alike.first);
                            look += &format!("{shape} x {}\n", alike.times);
                        }
                    }
                }
            }
            let next = known.len();
            let shape = *known.entry(look).or_insert(next);
            if let Some(own) = shapes.shapes.get_mut(at) {
                *own = shape;
            }
            if let Some(own) = shapes.marked.get_mut(at) {
                *own = is_marked;
            }
        }
        shapes
    }

    /// Whether there is something to look for in it, or below it.
    pub(super) fn is_marked(&self, process: usize) -> bool {
        self.marked.get(process).copied().unwrap_or(false)
    }

    /// Siblings, each shape once, in the order of the first of each.
    pub(super) fn fold(&self, siblings: &[usize]) -> Vec<Alike> {
        let mut folded: Vec<Alike> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for sibling in siblings {
            let shape = self.shapes.get(*sibling).copied().unwrap_or(0);
            let place = *places.entry(shape).or_insert(folded.len());
            match folded.get_mut(place) {
                Some(alike) => {
                    alike.last = *sibling;
                    alike.times += 1;
                }
                None => folded.push(Alike {
                    first: *sibling,
                    last: *sibling,
                    times: 1,
                }),
            }
        }
        folded
    }
}

/// Every process after all that are below it. Without recursion: a log may have any depth.
fn lowest_first(processes: &Processes) -> Vec<usize> {
    let mut order = Vec::new();
    let mut open = processes.roots();
    while let Some(at) = open.pop() {
        order.push(at);
        if let Some(process) = processes.get(at) {
            open.extend(process.children());
        }
    }
    order.reverse();
    order
}
