package keychain

import "golang.org/x/sys/windows"

// open are the rights to this process that the user's other programs retain: terminate it, wait for
// it, and query whether it runs.
const open = "0x101001"

// protectProcess changes the access rights to this process. It names the owner too (OW), who could
// otherwise change them back. If it fails, the program runs without this protection.
func protectProcess() {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return
	}
	sd, err := windows.SecurityDescriptorFromString(
		"D:P(A;;" + open + ";;;OW)(A;;" + open + ";;;" + user.User.Sid.String() + ")(A;;GA;;;SY)")
	if err != nil {
		return
	}
	acl, _, err := sd.DACL()
	if err != nil {
		return
	}
	_ = windows.SetSecurityInfo(windows.CurrentProcess(), windows.SE_KERNEL_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, acl, nil)
}
