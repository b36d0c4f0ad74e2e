//! The real program, listed against a golden file and run on every pair that matters.

use std::collections::BTreeSet;

use super::*;
use crate::abi::X32_BIT;

const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();

/// `struct seccomp_data` as the kernel lays it out for a filter.
struct Data {
    arch: u32,
    number: u32,
    arguments: [u64; 6],
}

impl Data {
    fn word(&self, offset: u32) -> u32 {
        let argument = |at: u32| {
            let value = self.arguments[(at / 8) as usize];
            u32::try_from(if at.is_multiple_of(8) {
                value & 0xffff_ffff
            } else {
                value >> 32
            })
        };
        match offset {
            0 => self.number,
            4 => self.arch,
            16..64 => argument(offset - 16).unwrap(),
            _ => panic!("the program loads offset {offset}"),
        }
    }
}

/// A classic BPF machine with the instructions that seccompiler emits.
fn run(program: &[sock_filter], data: &Data) -> u32 {
    let (mut accumulator, mut at) = (0_u32, 0_usize);
    loop {
        let step = &program[at];
        at += 1;
        let k = step.k;
        let branch = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
        match u32::from(step.code) {
            0x20 => accumulator = data.word(k),
            0x54 => accumulator &= k,
            0x05 => at += k as usize,
            0x15 => at += branch(accumulator == k),
            0x25 => at += branch(accumulator > k),
            0x35 => at += branch(accumulator >= k),
            0x06 => return k,
            code => panic!("instruction {:#x} at {}", code, at - 1),
        }
    }
}

fn verdict(abis: &[Abi], arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
    run(
        &program_for(abis).unwrap(),
        &Data {
            arch,
            number,
            arguments,
        },
    )
}

/// Arguments under which each notified call is one: a foreign pid, a new limit, and TIOCSTI.
const FOREIGN: [u64; 6] = [4711, 0x5412, 4711, 0, 0, 0];

const MACHINES: [&[Abi]; 2] = [&[Abi::X86_64, Abi::I386], &[Abi::Aarch64]];

#[test]
fn every_number_of_every_architecture_gets_its_answer() {
    for abis in MACHINES {
        let program = program_for(abis).unwrap();
        for abi in abis {
            let notified: BTreeSet<u32> = abi.calls().iter().map(|(number, _)| *number).collect();
            // All numbers that kernels use, with and without the x32 bit, and the far ends.
            let plain = 0..1024_u32;
            let numbers = plain
                .clone()
                .chain(plain.map(|number| number | X32_BIT))
                .chain([u32::MAX, 0x8000_0000, X32_BIT - 1]);
            for number in numbers {
                let data = Data {
                    arch: abi.audit_arch(),
                    number,
                    arguments: FOREIGN,
                };
                let expected = if notified.contains(&number) {
                    NOTIFY
                } else {
                    ALLOW
                };
                assert_eq!(run(&program, &data), expected, "{abi:?} {number:#x}");
            }
        }
    }
}

#[test]
fn exec_is_notified_whatever_its_arguments() {
    for abis in MACHINES {
        for abi in abis {
            let execs = abi
                .calls()
                .iter()
                .filter(|(_, call)| matches!(call, Call::Execve | Call::Execveat));
            for (number, _) in execs {
                for arguments in [[0; 6], [u64::MAX; 6], FOREIGN] {
                    assert_eq!(verdict(abis, abi.audit_arch(), *number, arguments), NOTIFY);
                }
            }
        }
    }
}

#[test]
fn an_unknown_architecture_is_refused_every_call() {
    let arm = 0x4000_0028;
    for abis in MACHINES {
        for arch in [arm, 0, u32::MAX, Abi::X86_64.audit_arch() ^ 1] {
            for number in [0, 1, 11, 59, 221, 322, 358] {
                assert_eq!(verdict(abis, arch, number, FOREIGN), REFUSE);
            }
        }
    }
    assert_eq!(
        verdict(&[Abi::Aarch64], Abi::X86_64.audit_arch(), 59, FOREIGN),
        REFUSE
    );
    assert_eq!(
        verdict(&[Abi::X86_64], Abi::I386.audit_arch(), 11, FOREIGN),
        REFUSE
    );
}

const WIDE: u32 = Abi::X86_64.audit_arch();
const NARROW: u32 = Abi::I386.audit_arch();

#[rustfmt::skip]
const OTHERS: &[(&str, u32, u32, [u64; 6], u32)] = &[
    ("own affinity", WIDE, 203, [0; 6], ALLOW),
    ("foreign affinity", WIDE, 203, [7, 0, 0, 0, 0, 0], NOTIFY),
    ("a pid only in the ignored upper half", WIDE, 203, [7 << 32, 0, 0, 0, 0, 0], ALLOW),
    ("own limit", WIDE, 302, [0, 0, 1, 0, 0, 0], ALLOW),
    ("foreign limit read", WIDE, 302, [7, 0, 0, 1, 0, 0], ALLOW),
    ("foreign limit set", WIDE, 302, [7, 0, 1, 0, 0, 0], NOTIFY),
    ("foreign limit set, high pointer", WIDE, 302, [7, 0, 1 << 40, 0, 0, 0], NOTIFY),
    ("own nice", WIDE, 141, [0, 0, 5, 0, 0, 0], ALLOW),
    ("foreign nice", WIDE, 141, [0, 7, 5, 0, 0, 0], NOTIFY),
    ("nice of the caller's group", WIDE, 141, [1, 0, 5, 0, 0, 0], NOTIFY),
    ("nice of the caller's user", WIDE, 141, [2, 0, 5, 0, 0, 0], NOTIFY),
    ("own io class", WIDE, 251, [1, 0, 5, 0, 0, 0], ALLOW),
    ("io class of the caller's user", WIDE, 251, [3, 0, 5, 0, 0, 0], NOTIFY),
    ("own scheduler, i386", NARROW, 156, [0; 6], ALLOW),
    ("foreign scheduler, i386", NARROW, 156, [7, 0, 0, 0, 0, 0], NOTIFY),
    ("a key is typed", WIDE, 16, [3, 0x5412, 1, 0, 0, 0], NOTIFY),
    ("the upper half of a request is ignored", WIDE, 16, [3, 0x5412 | 1 << 32, 1, 0, 0, 0], NOTIFY),
    ("a selection is pasted", WIDE, 16, [3, 0x541c, 1, 0, 0, 0], NOTIFY),
    ("a terminal's size is read", WIDE, 16, [3, 0x5413, 1, 0, 0, 0], ALLOW),
    ("a key is typed, i386", NARROW, 54, [3, 0x5412, 1, 0, 0, 0], NOTIFY),
    ("foreign limit, i386", NARROW, 340, [7, 0, 1, 0, 0, 0], NOTIFY),
];

#[test]
fn what_a_call_is_about_says_whether_it_is_notified() {
    for (what, arch, number, arguments, expected) in OTHERS {
        let seen = verdict(&[Abi::X86_64, Abi::I386], *arch, *number, *arguments);
        assert_eq!(seen, *expected, "{what}");
    }
}

#[test]
fn no_stand_in_and_no_kill_is_left() {
    for abis in MACHINES {
        for step in program_for(abis).unwrap() {
            if step.code == RETURN {
                assert!(
                    [NOTIFY, ALLOW, REFUSE].contains(&step.k),
                    "returns {:#x}",
                    step.k
                );
            }
        }
    }
}

/// One instruction a line, jumps as absolute targets.
fn listing(program: &[sock_filter]) -> String {
    let mut text = String::new();
    for (at, step) in program.iter().enumerate() {
        let target = |distance: usize| at + 1 + distance;
        let branch = |name: &str| {
            let (yes, no) = (target(usize::from(step.jt)), target(usize::from(step.jf)));
            format!("{name:<4} {:#x} ? {yes} : {no}", step.k)
        };
        let line = match u32::from(step.code) {
            0x20 => format!("ld   [{}]", step.k),
            0x54 => format!("and  {:#x}", step.k),
            0x05 => format!("ja   {}", target(step.k as usize)),
            0x15 => branch("jeq"),
            0x25 => branch("jgt"),
            0x35 => branch("jge"),
            0x06 => match step.k {
                NOTIFY => "ret  USER_NOTIF".into(),
                ALLOW => "ret  ALLOW".into(),
                REFUSE => "ret  ERRNO(EPERM)".into(),
                other => format!("ret  {other:#x}"),
            },
            code => format!("?    {code:#x} {:#x}", step.k),
        };
        text += &format!("{at:>4}  {line}\n");
    }
    text
}

#[test]
fn the_listing_is_the_reviewed_one() {
    for (abis, golden) in [
        (MACHINES[0], include_str!("x86.golden")),
        (MACHINES[1], include_str!("aarch64.golden")),
    ] {
        let listing = listing(&program_for(abis).unwrap());
        assert_eq!(
            listing, golden,
            "if the change is meant, this is the new golden file:\n{listing}"
        );
    }
}
