package policy

import (
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// volumeName matches the name of a container volume, which is not a folder of the machine.
var volumeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// daemonSocket matches the socket of a service that can be made to access any file of the machine.
var daemonSocket = regexp.MustCompile(`(docker|podman|containerd|crio|buildkitd|dbus|systemd/private|snapd|libvirt)[^ ]*\.sock|/(system_)?bus(_socket)?$`)

// containerAccesses returns the machine's folders that docker gives to a container or a build.
func containerAccesses(words []shell.Word) []access {
	rest := operands(words, "HlcfpDn")
	if shorter := withoutCommandGroup("docker", rest); shorter != nil {
		rest = shorter
	}
	if len(rest) == 0 {
		return nil
	}
	switch rest[0].Text {
	case "run", "create":
		return mountAccesses(words)
	case "build", "b", "bake":
		return buildAccesses(words)
	}
	return nil
}

func mountAccesses(words []shell.Word) (list []access) {
	for i, w := range words {
		opt, value := optionAt(words, i)
		switch {
		case opt == "--volume":
			list = append(list, volumeAccess(value)...)
		case opt == "--mount":
			list = append(list, mountAccess(value)...)
		case containerPrivileges[opt], (opt == "--pid" || opt == "--ipc" || opt == "--userns") && value.Text == "host":
			list = append(list, access{word: everywhere, verb: "give"})
		case isLetters(opt):
			before, rest, ok := strings.Cut(w.Text[1:], "v")
			if !ok || strings.Trim(before, "itdPq") != "" {
				continue
			}
			if rest = strings.TrimPrefix(rest, "="); rest != "" {
				value = part(w, rest)
			}
			list = append(list, volumeAccess(value)...)
		}
	}
	return list
}

// optionAt returns the option at an index, and its value in the same word or the next.
func optionAt(words []shell.Word, i int) (opt string, value shell.Word) {
	opt, v, cut := strings.Cut(words[i].Text, "=")
	switch {
	case cut:
		value = part(words[i], v)
	case i+1 < len(words):
		value = words[i+1]
	}
	return opt, value
}

func volumeAccess(w shell.Word) []access {
	t, from := w.Text, 0
	if drive(t) {
		from = 2
	}
	host, rest, two := strings.Cut(t[from:], ":")
	if host = t[:from] + host; !two || volumeName.MatchString(host) && !w.Dynamic {
		return nil
	}
	_, mode, _ := strings.Cut(rest, ":")
	return []access{hostAccess(w, host, mode)}
}

// mountAccess parses type=bind,src=HOST,….
func mountAccess(w shell.Word) []access {
	host, known := "", false
	for f := range strings.SplitSeq(w.Text, ",") {
		if k, v, _ := strings.Cut(f, "="); k == "src" || k == "source" {
			host, known = v, true
		}
	}
	if known && (!volumeName.MatchString(host) || w.Dynamic || strings.Contains(w.Text, "type=bind")) {
		return []access{hostAccess(w, host, w.Text)}
	}
	return nil
}

func hostAccess(w shell.Word, host, mode string) access {
	for o := range strings.SplitSeq(mode, ",") {
		if o == "ro" || o == "readonly" || o == "readonly=true" || o == "ro=true" {
			return access{word: part(w, host), verb: "show-container"}
		}
	}
	return access{word: part(w, host), verb: "give"}
}

// buildAccesses returns the folders that an image is built from and exported to.
func buildAccesses(words []shell.Word) (list []access) {
	if rest := operands(words, "fot"); len(rest) > 0 {
		list = append(list, access{word: rest[len(rest)-1], verb: "send"})
	}
	for _, v := range values(words, "-o,--output") {
		to := v.Text
		for f := range strings.SplitSeq(v.Text, ",") {
			if d, ok := strings.CutPrefix(f, "dest="); ok {
				to = d
			}
		}
		list = append(list, access{word: part(v, to), verb: "write"})
	}
	return list
}
