//! The session keyring: keyrings(7). A process inherits its parent's, whoever it becomes, and with it the
//! right to read and change the keys in it.

use std::io;

use nix::errno::Errno;

/// Leaves the caller's session keyring for a fresh one, with what is started from here on.
///
/// # Errors
/// What keyctl(2) answers. Where the kernel has no keys, or does not let the calling process near them,
/// what it starts has none either.
pub(crate) fn leave() -> io::Result<()> {
    match join_anonymous() {
        Ok(()) | Err(Errno::ENOSYS | Errno::EPERM) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[expect(
    unsafe_code,
    reason = "keyctl(2) has no safe wrapper in these libraries"
)]
fn join_anonymous() -> Result<(), Errno> {
    let anonymous = std::ptr::null::<libc::c_char>();
    // SAFETY: KEYCTL_JOIN_SESSION_KEYRING reads its one argument as a name, and a null pointer as none.
    // It changes which keyring the calling process has, and no memory.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            libc::KEYCTL_JOIN_SESSION_KEYRING,
            anonymous,
        )
    };
    Errno::result(answer).map(drop)
}
