package policy

import (
	"path"
	"strings"

	"fairlead/gateway/peer/sensitive"
)

// rareWriters may write the files that they are given, but not as surely as writers: only the floor counts them.
var rareWriters = set(`gcp gmv gln grm ginstall gtee gdd gtouch gtruncate gsed ditto nvim gvim pico micro joe kak helix mkfifo mknod setfacl setfattr xattr
	trash trash-put srm 7z 7za bsdtar gtar cpio pax`)

// protected says why writing one of these files is asked about whatever the rules say. Git's own commands name no files in .git: they are
// judged by what they do.
func (j *judging) protected(list []string) string {
	for _, f := range list {
		low := fold(f)
		switch e, ok := sensitive.Find(low, fold(j.place.home), sensitive.Startup|sensitive.Secret); {
		case device.MatchString(low):
			return "it writes to a disk"
		case j.ours(f):
			return ourFiles
		case ok && e.Kind&sensitive.Startup != 0:
			return short(path.Base(f)) + " decides which programs run later (" + e.Program() + ")"
		case ok:
			return short(path.Base(f)) + " holds passwords, tokens or private data (" + e.Program() + ")"
		}
	}
	return ""
}

// protectedNames are the names of protected files that begin with a text.
func protectedNames(begin string) (list []string) {
	for _, e := range sensitive.Entries() {
		if name := strings.ToLower(path.Base(e.Path)); strings.HasPrefix(name, begin) && !strings.Contains(name, "*") {
			list = append(list, name)
		}
	}
	return list
}
