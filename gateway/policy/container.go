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

// namesService reports whether a word names such a socket. The regular expression is slow and is
// tried on every word of every command, hence the check before it.
func namesService(text string) bool {
	return (strings.Contains(text, ".sock") || strings.HasSuffix(text, "bus") || strings.HasSuffix(text, "bus_socket")) && daemonSocket.MatchString(text)
}

// containerAccesses returns the folders of the machine that a container gets from docker run, and
// those of an image build.
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
	case "build", "b":
		return buildAccesses(words)
	case "bake":
		return append(buildAccesses(words), access{word: everywhere, verb: "give"})
	}
	return nil
}

// mountAccesses returns the folders that docker run gives to a container.
func mountAccesses(words []shell.Word) []access {
	var m mounts
	for i, w := range words {
		t := w.Text
		opt, v, cut := strings.Cut(t, "=")
		value := part(w, v)
		if !cut && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case !isFlag(t):
		case opt == "--volume":
			m.volume(value)
		case opt == "--mount":
			m.mount(value)
		case opt == "--privileged", opt == "--volumes-from", opt == "--device", opt == "--cap-add", opt == "--security-opt", opt == "--use-api-socket",
			(opt == "--pid" || opt == "--ipc" || opt == "--userns") && value.Text == "host":
			m = append(m, access{word: everywhere, verb: "give"})
		case t[1] != '-':
			k := strings.IndexByte(t, 'v')
			if k < 1 || strings.Trim(t[1:k], "itdPq") != "" {
				continue
			}
			if rest := strings.TrimPrefix(t[k+1:], "="); rest != "" {
				m.volume(part(w, rest))
			} else if i+1 < len(words) {
				m.volume(words[i+1])
			}
		}
	}
	return m
}

// mounts are the folders that a container gets.
type mounts []access

// give adds a folder of the machine. mode has its mount options, separated by commas.
func (m *mounts) give(w shell.Word, host, mode string) {
	if strings.HasSuffix(host, "docker.sock") || strings.HasSuffix(host, "podman.sock") || strings.HasSuffix(host, "containerd.sock") {
		*m = append(*m, access{word: everywhere, verb: "give"})
		return
	}
	verb := "give"
	for _, o := range strings.Split(mode, ",") {
		if o == "ro" || o == "readonly" || o == "readonly=true" || o == "ro=true" {
			verb = "show-container"
		}
	}
	*m = append(*m, access{word: part(w, host), verb: verb})
}

// volume parses HOST:CONTAINER[:MODE].
func (m *mounts) volume(w shell.Word) {
	t, from := w.Text, 0
	if drive(t) {
		from = 2
	}
	host, rest, two := strings.Cut(t[from:], ":")
	if host = t[:from] + host; !two || volumeName.MatchString(host) && !w.Dynamic {
		return
	}
	_, mode, _ := strings.Cut(rest, ":")
	m.give(w, host, mode)
}

// mount parses type=bind,src=HOST,….
func (m *mounts) mount(w shell.Word) {
	host, known := "", false
	for _, f := range strings.Split(w.Text, ",") {
		if k, v, _ := strings.Cut(f, "="); k == "src" || k == "source" {
			host, known = v, true
		}
	}
	if known && (!volumeName.MatchString(host) || w.Dynamic || strings.Contains(w.Text, "type=bind")) {
		m.give(w, host, w.Text)
	}
}

// buildAccesses returns the folders that an image is built from, and those that its files are
// exported to.
func buildAccesses(words []shell.Word) (list []access) {
	if rest := operands(words, "fot"); len(rest) > 0 {
		last := rest[len(rest)-1]
		list = append(list, access{word: last, verb: "send"})
	}
	for _, v := range values(words, 'o', "--output") {
		to := v.Text
		for _, f := range strings.Split(v.Text, ",") {
			if k, d, ok := strings.Cut(f, "="); ok && k == "dest" {
				to = d
			}
		}
		list = append(list, access{word: part(v, to), verb: "write"})
	}
	return list
}
