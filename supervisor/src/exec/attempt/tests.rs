use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const X86_64: u32 = 0xc000_003e;
const I386: u32 = 0x4000_0003;
const AARCH64: u32 = 0xc000_00b7;
const X32: u32 = 0x4000_0000;

/// Every exec there is: architecture, number, whether it is execveat, and the bytes of a pointer.
const EXECS: [(u32, u32, bool, usize); 12] = [
    (X86_64, 59, false, 8),
    (X86_64, 322, true, 8),
    (X86_64, 520, false, 4),
    (X86_64, 545, true, 4),
    (X86_64, X32 | 59, false, 8),
    (X86_64, X32 | 322, true, 8),
    (X86_64, X32 | 520, false, 4),
    (X86_64, X32 | 545, true, 4),
    (I386, 11, false, 4),
    (I386, 358, true, 4),
    (AARCH64, 221, false, 8),
    (AARCH64, 281, true, 8),
];

/// `AT_EMPTY_PATH`, `AT_SYMLINK_NOFOLLOW` and `AT_EXECVE_CHECK`, as the kernel numbers them.
const FLAGS: [u64; 3] = [0x1000, 0x100, 0x10000];

/// A number near one of an exec: itself, of another architecture, with a bit changed.
fn any_number() -> impl Strategy<Value = u32> {
    let known = || select(&EXECS[..]).prop_map(|(_, number, ..)| number);
    prop_oneof![
        4 => known(),
        2 => (known(), 0..32_u32).prop_map(|(number, bit)| number ^ (1 << bit)),
        1 => 0..600_u32,
        1 => any::<u32>(),
    ]
}

fn any_arch() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => select(vec![X86_64, I386, AARCH64]),
        2 => (select(vec![X86_64, I386, AARCH64]), 0..32_u32).prop_map(|(arch, bit)| arch ^ (1 << bit)),
        1 => any::<u32>(),
    ]
}

fn any_register() -> impl Strategy<Value = u64> {
    let flags = proptest::sample::subsequence(&FLAGS[..], 0..=3);
    let flags = flags.prop_map(|flags| flags.into_iter().sum());
    let low = prop_oneof![
        flags,
        select(vec![
            0,
            1,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ff9c,
            0xffff_ffff
        ]),
        any::<u32>().prop_map(u64::from),
    ];
    let high = select(vec![0, 1, 0x7fff, 0xffff_ffff]);
    (low, high).prop_map(|(low, high): (u64, u64)| high << 32 | low)
}

proptest! {
    #[test]
    fn any_registers_are_the_exec_that_they_are_or_an_error(
        arch in any_arch(),
        number in any_number(),
        args in proptest::array::uniform6(any_register()),
    ) {
        let raw = libc::seccomp_data {
            nr: number.cast_signed(),
            arch,
            instruction_pointer: args[0],
            args,
        };
        let decoded = ExecAttempt::decode(&SyscallData::of(&raw));
        let known = EXECS.into_iter().find(|(its, of, ..)| (*its, *of) == (arch, number));
        let Some((_, _, is_at, pointer_bytes)) = known else {
            let expected = match [X86_64, I386, AARCH64].contains(&arch) {
                true => AttemptError::NotExec(number),
                false => AttemptError::Architecture(arch),
            };
            prop_assert_eq!(decoded, Err(expected));
            return Ok(());
        };
        let pointer = |at: usize| match pointer_bytes {
            4 => args[at] % (1 << 32),
            _ => args[at],
        };
        let low = |at: usize| u32::try_from(args[at] % (1 << 32)).unwrap();
        let first = usize::from(is_at);
        let flags = if is_at { low(4) } else { 0 };
        if u64::from(flags) & !FLAGS.iter().sum::<u64>() != 0 {
            prop_assert_eq!(decoded, Err(AttemptError::Flags(flags.cast_signed())));
            return Ok(());
        }
        let decoded = decoded.unwrap();
        prop_assert_eq!(decoded.pointer_bytes, pointer_bytes);
        let addresses = [decoded.path, decoded.argv, decoded.envp];
        prop_assert_eq!(addresses, [pointer(first), pointer(first + 1), pointer(first + 2)]);
        let dirfd = if is_at { low(0).cast_signed() } else { -100 };
        prop_assert_eq!(decoded.dirfd, dirfd);
        let ExecFlags(seen) = decoded.flags;
        prop_assert_eq!(seen.cast_unsigned(), flags);
    }
}

fn data(arch: u32, number: u32, arguments: [u64; 6]) -> SyscallData {
    SyscallData {
        arch,
        number,
        arguments,
    }
}

#[test]
fn execve_and_execveat_take_their_own_registers() {
    let arch = Abi::X86_64.audit_arch();
    let plain = ExecAttempt::decode(&data(arch, 59, [1, 2, 3, 4, 5, 6])).unwrap();
    assert_eq!((plain.path, plain.argv, plain.envp), (1, 2, 3));
    assert_eq!(plain.dirfd, libc::AT_FDCWD);
    let upper_half_is_noise = 0xdead_0000_0000_0007;
    let at = ExecAttempt::decode(&data(arch, 322, [upper_half_is_noise, 2, 3, 4, 0x1000, 6]));
    let at = at.unwrap();
    assert_eq!((at.dirfd, at.path, at.argv, at.envp), (7, 2, 3, 4));
    assert!(at.flags.has_empty_path() && !at.flags.is_check_only());
}

#[test]
fn narrow_conventions_use_half_registers() {
    let noisy = 0xffff_ffff_0000_0010;
    let at = ExecAttempt::decode(&data(Abi::I386.audit_arch(), 11, [noisy; 6])).unwrap();
    assert_eq!((at.pointer_bytes, at.path), (4, 0x10));
    let x32 = 0x4000_0000 | 520;
    let at = ExecAttempt::decode(&data(Abi::X86_64.audit_arch(), x32, [noisy; 6])).unwrap();
    assert_eq!((at.pointer_bytes, at.path), (4, 0x10));
}

#[test]
fn what_is_no_exec_is_an_error() {
    let arch = Abi::X86_64.audit_arch();
    let decode = |arch, number, flags| {
        ExecAttempt::decode(&data(arch, number, [0, 0, 0, 0, flags, 0])).unwrap_err()
    };
    assert_eq!(
        decode(0x4000_0028, 11, 0),
        AttemptError::Architecture(0x4000_0028)
    );
    assert_eq!(decode(arch, 1, 0), AttemptError::NotExec(1));
    assert_eq!(decode(arch, 302, 0), AttemptError::NotExec(302));
    assert_eq!(decode(arch, 322, 1 << 20), AttemptError::Flags(1 << 20));
}
