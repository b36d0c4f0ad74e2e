use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::mutation::spoilt;

const TEXT: &str = "Name:\tevil\\nTgid:\t1\nUmask:\t0022\nState:\tT (stopped)\nTgid:\t42\n\
    Ngid:\t0\nPid:\t43\nPPid:\t7\nTracerPid:\t0\nUid:\t1000\t1001\t1002\t1003\n\
    Gid:\t100\t101\t102\t103\nFDSize:\t64\nGroups:\t4 27 \nNStgid:\t42\t2\nNSpid:\t43\t3\nNSpgid:\t41\t1\nThreads:\t2\nCapEff:\t000001ffffffffff\n";

#[test]
fn every_line_lands_in_its_field() {
    let status = Status::parse(TEXT.as_bytes()).unwrap();
    assert_eq!((status.tgid, status.ppid), (Tid::new(42), Tid::new(7)));
    assert_eq!(status.group, Tid::new(41));
    assert_eq!(status.ns_tgids, [42, 2]);
    assert_eq!(status.credentials.fsuid, 1003);
    assert_eq!(status.credentials.groups, [4, 27]);
    assert!(status.is_stopped());
}

#[test]
fn a_process_is_over_with_its_last_thread() {
    let of = |state: &str, threads: u32| {
        let text = TEXT.replace("T (stopped)", state);
        let text = text.replace("Threads:\t2", &format!("Threads:\t{threads}"));
        Status::parse(text.as_bytes()).unwrap().is_over()
    };
    assert!(of("Z (zombie)", 1) && !of("Z (zombie)", 2) && !of("S (sleeping)", 1));
}

#[test]
fn a_signal_that_is_blocked_does_not_act() {
    let text = |blocked: &str| format!("SigPnd:\t2\nShdPnd:\t4000\nSigBlk:\t{blocked}\n");
    let signals = |blocked| deliverable_signals(text(blocked).as_bytes()).unwrap();
    assert_eq!(
        (signals("0"), signals("4000"), signals("4002")),
        (0x4002, 2, 0)
    );
    assert!(deliverable_signals(b"SigPnd:\t2\n").is_err());
    assert_eq!(
        seccomp_filters(b"Seccomp:\t2\nSeccomp_filters:\t3\n").unwrap(),
        3
    );
    assert!(seccomp_filters(b"Seccomp:\t2\n").is_err());
}

#[test]
fn a_missing_or_cut_line_is_an_error_and_not_a_default() {
    for name in [
        "Tgid",
        "Uid",
        "Groups",
        "CapEff",
        "TracerPid",
        "NStgid",
        "Threads",
    ] {
        let text: String = TEXT
            .split_inclusive('\n')
            .filter(|line| !line.starts_with(name))
            .collect();
        assert!(Status::parse(text.as_bytes()).is_err(), "without {name}");
    }
    assert!(Status::parse(b"").is_err());
}

/// A task, as fs/proc/array.c of the kernel tells of it.
#[derive(Clone, Debug)]
struct Task {
    comm: Vec<u8>,
    state: &'static str,
    /// Tgid, PPid, TracerPid, NSpgid, Threads.
    numbers: [u32; 5],
    uids: [u32; 4],
    gids: [u32; 4],
    groups: Vec<u32>,
    ns_tgids: Vec<u32>,
    ns_tids: Vec<u32>,
    /// SigPnd, ShdPnd, SigBlk, CapEff.
    sets: [u64; 4],
    filters: u32,
}

/// A name that a task may give itself: prctl(2), `PR_SET_NAME`.
fn any_comm() -> impl Strategy<Value = Vec<u8>> {
    const LINES: [&str; 6] = [
        "\nTgid:\t1",
        "x\nUid:\t0\t0",
        "a) R 1",
        "\\n\\",
        "",
        "State:\tZ",
    ];
    let lines = select(&LINES[..]).prop_map(|line| line.as_bytes().to_vec());
    prop_oneof![lines, vec(1..=u8::MAX, 0..16)].prop_map(|mut comm| {
        comm.truncate(15);
        comm
    })
}

fn any_task() -> impl Strategy<Value = Task> {
    let id = prop_oneof![
        0..70_000_u32,
        select(vec![0, 65_534, u32::MAX - 1, u32::MAX])
    ];
    let ids = proptest::array::uniform4(id.clone());
    let number = 0..4_194_304_u32;
    let group_counts = prop_oneof![40 => 0..20_usize, 1 => 700..1800_usize];
    let groups = group_counts.prop_flat_map(move |count| vec(id.clone(), count));
    let levels = vec((number.clone(), number.clone()), 1..5);
    let state = select(vec![
        "R (running)",
        "T (stopped)",
        "Z (zombie)",
        "D (disk sleep)",
    ]);
    let set = prop_oneof![any::<u64>(), select(vec![0, u64::MAX, 0x1ff_ffff_ffff])];
    let numbers = proptest::array::uniform5(number);
    let sets = proptest::array::uniform4(set);
    let names = (any_comm(), state, numbers, levels);
    (names, ids.clone(), ids, groups, sets, 0..40_u32).prop_map(
        |((comm, state, numbers, levels), uids, gids, groups, sets, filters)| {
            let (ns_tgids, ns_tids) = levels.into_iter().unzip();
            Task {
                comm,
                state,
                numbers,
                uids,
                gids,
                groups,
                ns_tgids,
                ns_tids,
                sets,
                filters,
            }
        },
    )
}

impl Task {
    fn text(&self) -> Vec<u8> {
        let mut text = b"Name:\t".to_vec();
        for byte in &self.comm {
            match byte {
                b'\n' => text.extend(b"\\n"),
                b'\\' => text.extend(b"\\\\"),
                other => text.push(*other),
            }
        }
        let [tgid, ppid, tracer, group, threads] = self.numbers;
        let [pending, shared, blocked, effective] = self.sets;
        let row = |ids: &[u32]| ids.iter().map(|id| format!("\t{id}")).collect::<String>();
        let groups: String = self.groups.iter().map(|id| format!("{id} ")).collect();
        let mut rest = String::new();
        write!(
            rest,
            "\nUmask:\t0022\nState:\t{}\nTgid:\t{tgid}\nNgid:\t0\nPid:\t9\nPPid:\t{ppid}\n\
             TracerPid:\t{tracer}\nUid:{}\nGid:{}\nFDSize:\t64\nGroups:\t{groups}\nNStgid:{}\n\
             NSpid:{}\nNSpgid:\t{group}\t1\nNSsid:\t1\nKthread:\t0\nVmPeak:\t    5516 kB\nThreads:\t{threads}\n\
             SigQ:\t0/64038\nSigPnd:\t{pending:016x}\nShdPnd:\t{shared:016x}\n\
             SigBlk:\t{blocked:016x}\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n\
             CapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:\t{effective:016x}\n\
             CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n\
             Seccomp_filters:\t{}\nSpeculation_Store_Bypass:\tvulnerable\n\
             Cpus_allowed:\t3\nnonvoluntary_ctxt_switches:\t1\n",
            self.state,
            row(&self.uids),
            row(&self.gids),
            row(&self.ns_tgids),
            row(&self.ns_tids),
            self.filters,
        )
        .unwrap();
        text.extend(rest.into_bytes());
        text
    }

    fn status(&self) -> Status {
        let [tgid, ppid, tracer, group, _] = self.numbers.map(Tid::new);
        let [uid, euid, suid, fsuid] = self.uids;
        let [gid, egid, sgid, fsgid] = self.gids;
        Status {
            state: self.state.as_bytes()[0],
            tgid,
            ppid,
            tracer,
            group,
            ns_tgids: self.ns_tgids.clone(),
            ns_tids: self.ns_tids.clone(),
            threads: self.numbers[4],
            credentials: Credentials {
                uids: [uid, euid, suid],
                gids: [gid, egid, sgid],
                fsuid,
                fsgid,
                groups: self.groups.clone(),
                effective: self.sets[3],
            },
        }
    }
}

proptest! {
    #[test]
    fn a_status_is_read_as_it_is_or_not_at_all(task in any_task(), end in any::<Index>()) {
        let text = task.text();
        let [pending, shared, blocked, _] = task.sets;
        let signals = (pending | shared) & !blocked;
        prop_assert_eq!(Status::parse(&text).unwrap(), task.status());
        prop_assert_eq!(deliverable_signals(&text).unwrap(), signals);
        prop_assert_eq!(seccomp_filters(&text).unwrap(), task.filters);
        // As a buffer that is too small cuts it.
        let cut = &text[..end.index(text.len())];
        if let Ok(status) = Status::parse(cut) {
            prop_assert_eq!(status, task.status());
        }
        prop_assert!(deliverable_signals(cut).is_err() || deliverable_signals(cut).unwrap() == signals);
        prop_assert!(seccomp_filters(cut).is_err() || seccomp_filters(cut).unwrap() == task.filters);
    }

    #[test]
    fn any_status_is_read_or_an_error(text in spoilt(any_task().prop_map(|task| task.text()), &[8 << 10])) {
        if let Ok(status) = Status::parse(&text) {
            let number = status.tgid.to_string();
            prop_assert!(text.windows(number.len()).any(|part| part == number.as_bytes()));
        }
        drop((deliverable_signals(&text), seccomp_filters(&text)));
    }

    /// What the kernel itself makes of a name.
    #[test]
    fn no_name_of_a_task_reaches_its_other_lines(comm in any_comm()) {
        std::fs::write("/proc/thread-self/comm", &comm).unwrap();
        let text = std::fs::read("/proc/thread-self/status").unwrap();
        let status = Status::parse(&text).unwrap();
        prop_assert_eq!(status.tgid, Tid::own());
        prop_assert_eq!(status.ppid, Tid::new(std::os::unix::process::parent_id()));
        let thread = nix::unistd::gettid().as_raw().cast_unsigned();
        prop_assert_eq!(status.ns_tids.first(), Some(&thread));
        let own = nix::unistd::getresuid().unwrap();
        prop_assert_eq!(status.credentials.uids, [own.real, own.effective, own.saved].map(|uid| uid.as_raw()));
    }
}
