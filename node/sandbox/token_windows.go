package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The parts of winnt.h that package windows lacks.
const (
	luaToken = 0x4

	uiHandles          = 0x1
	uiReadClipboard    = 0x2
	uiWriteClipboard   = 0x4
	uiSystemParameters = 0x8
	uiDisplaySettings  = 0x10
	uiDesktop          = 0x40
	uiExitWindows      = 0x80
)

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// restrictedToken returns the node's own token without its privileges and, if it belongs to an
// administrator, reduced to that of a standard user. The caller closes it.
func restrictedToken() (windows.Token, error) {
	var own, less windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_QUERY|windows.TOKEN_ADJUST_DEFAULT, &own)
	if err != nil {
		return 0, fmt.Errorf("opening the process token: %w", err)
	}
	defer own.Close()
	drop, err := privileges(own)
	if err != nil {
		return 0, fmt.Errorf("listing the process privileges: %w", err)
	}
	ok, _, err := createRestrictedToken.Call(uintptr(own), luaToken, 0, 0, uintptr(len(drop)), uintptr(unsafe.Pointer(unsafe.SliceData(drop))), 0, 0,
		uintptr(unsafe.Pointer(&less)))
	if ok == 0 {
		return 0, fmt.Errorf("creating a restricted token: %w", err)
	}
	return less, nil
}

// limit limits the job: it ends with the node, and the number of its processes is bounded, against
// fork bombs. The processes of a contained job cannot read the person's clipboard, send messages to
// windows of other programs, or log the person out.
func (g *group) limit(contained bool) error {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
	limits.BasicLimitInformation.ActiveProcessLimit = maxProcesses
	if _, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return fmt.Errorf("limiting the job object: %w", err)
	}
	if !contained {
		return nil
	}
	ui := uint32(uiHandles | uiReadClipboard | uiWriteClipboard | uiSystemParameters | uiDisplaySettings | uiDesktop | uiExitWindows)
	if _, err := windows.SetInformationJobObject(g.job, windows.JobObjectBasicUIRestrictions, uintptr(unsafe.Pointer(&ui)), uint32(unsafe.Sizeof(ui))); err != nil {
		return fmt.Errorf("restricting the job object's access to windows: %w", err)
	}
	return nil
}

// maxProcesses is the maximum number of running processes of one command.
const maxProcesses = 2048

// privileges returns those of a token, except the one for traversing folders, which everyone has.
func privileges(token windows.Token) (all []windows.LUIDAndAttributes, err error) {
	size := uint32(0)
	windows.GetTokenInformation(token, windows.TokenPrivileges, nil, 0, &size)
	if size == 0 {
		return nil, windows.ERROR_INVALID_DATA
	}
	buf := make([]byte, size)
	if err := windows.GetTokenInformation(token, windows.TokenPrivileges, &buf[0], size, &size); err != nil {
		return nil, err
	}
	var pass windows.LUID
	if err := windows.LookupPrivilegeValue(nil, windows.StringToUTF16Ptr("SeChangeNotifyPrivilege"), &pass); err != nil {
		return nil, err
	}
	for _, p := range (*windows.Tokenprivileges)(unsafe.Pointer(&buf[0])).AllPrivileges() {
		if p.Luid != pass {
			all = append(all, p)
		}
	}
	return all, nil
}
