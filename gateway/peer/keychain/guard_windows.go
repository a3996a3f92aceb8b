package keychain

import "golang.org/x/sys/windows"

// open are the rights to this process that the user's other programs keep: end it, wait for it, and ask whether it runs.
const open = "0x101001"

// seclude changes who may do what with this process. The owner, who could otherwise change that back, is named as well (OW). A program that runs as
// before, when it fails, is no worse off.
func seclude() {
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
