package policy

// toldFiles are further programs that open only the files in their words, or those in the folders
// in their words, and run only code in their words. Every program that has a table in this package
// counts too.
var toldFiles = set(`: dir vdir yes expr factor numfmt printenv getent locale nproc free uptime uname arch hostname hostnamectl date cal timedatectl lscpu lsblk
	lsusb lspci lsmod df findmnt mount who w groups users logname tty stty clear reset tput top htop pgrep killall ps jobs fg bg wait disown shift break continue
	dirs let help info man whatis apropos whereis whois history times test [ logger notify-send xclip xsel pbcopy pbpaste wl-copy wl-paste
	zgrep rgrep awk gawk mawk nawk sed gsed join uniq fmt pr column unexpand shuf tsort look iconv locate eza exa lsd gfind fd fdfind pathchk mktemp lsattr
	setfacl getfacl sync mkfifo link split csplit gsplit rename prename perl-rename file-rename mmv
	rmdir shred tee dd truncate touch chmod chown chgrp chattr mkdir tar gtar bsdtar star unzip patch gpatch vim vi nano ed ex sponge
	zip gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat lz4 7z 7za 7zz 7zr rar unrar ar cpio pax jar arj lha cabextract unar lsar
	mksquashfs unsquashfs genisoimage mkisofs xorriso restic borg b2sum base32 gpg age colordiff delta sdiff diff3 xargs gxargs
	curl ping traceroute dig host nslookup nc netcat ncat socat telnet ip ifconfig netstat ss lsof ssh sftp mosh ssh-keygen ssh-add ssh-keyscan http https xh
	git hub glab hg svn jj bzr fossil cvs darcs pijul
	kubectl oc aws gsutil s3cmd gcloud s5cmd mc b2 ossutil swift rclone az xmllint tidy dos2unix unix2dos identify ffprobe exiftool
	as nm objdump readelf size strip ranlib tsc
	gofmt gofumpt goimports gci staticcheck shellcheck shfmt yapf autopep8 ruff clang-format stylua swiftformat ktlint hadolint yamllint
	actionlint codespell typos cloc tokei scc dpkg dpkg-deb dpkg-query rpm journalctl dmesg crontab at batch
	serve http-server live-server httpd webfsd miniserve darkhttpd simple-http-server caddy filebrowser
	sudo doas su pkexec run0 psql mysql mariadb sqlite3 duckdb env`)

// partly are programs of which some subcommands run code of a project, a package or a service.
var partly = func() map[string]subcommands {
	npm := subcommands{
		own: set(`view info show ls list ll la outdated search audit ping whoami why explain fund help help-search doctor root prefix bin docs repo bugs config get
			cache owner dist-tag access org team token profile star stars unstar login logout adduser deprecate query sbom completion`),
		plain: set("install ci add update uninstall remove dedupe prune"), except: "fix",
	}
	packages := subcommands{own: set("list search show info policy showpkg depends rdepends madison changelog provides repolist find")}
	m := map[string]subcommands{
		"npm": npm, "bun": {own: set("outdated why pm --version")}, "pnpm": {own: npm.own, except: "fix"},
		"go":        {own: set("build vet list env version doc fmt fix mod work clean get install help telemetry")},
		"cargo":     {own: set("search fmt new init login logout owner yank help version locate-project")},
		"pip":       {own: set("list show freeze check config cache index search uninstall hash debug help inspect completion")},
		"uv":        {own: set("version help cache self")},
		"poetry":    {own: set("show version about config check search env help")},
		"gem":       {own: set("list search query info environment help which contents dependency outdated sources")},
		"composer":  {own: set("about help")},
		"brew":      {own: set("list ls search info outdated deps uses leaves desc home config doctor log cat help commands")},
		"conda":     {own: set("list info search config help")},
		"terraform": {own: set("fmt version output show help workspace state")},
		"systemctl": {own: set(`status is-active is-enabled is-failed list-units list-timers list-unit-files list-sockets list-dependencies show cat help
			get-default`)},
		"gh": {own: set(`pr issue repo run release gist api auth status label workflow search browse secret variable cache org project ruleset codespace help
			version config alias extension`)},
		"dotnet": {own: set("list nuget help add remove sln")},
		"helm":   {own: set("list status get show search history repo version help template lint env")},
		"tmux":   {own: set("ls list-sessions attach attach-session a at has-session list-windows list-panes kill-session kill-server info")},
		"rustup": {own: set("show toolchain target component update check help default override which doc")},
		"apt":    packages, "apt-get": packages, "aptitude": packages, "apt-cache": packages, "dnf": packages, "yum": packages, "snap": packages, "flatpak": packages,
	}
	m["tofu"], m["micromamba"], m["mamba"] = m["terraform"], m["conda"], m["conda"]
	return m
}()

// compilers are programs that read code or documents, and run only code that their options load.
var compilers = set("gcc g++ cc c++ clang clang++ ld rustc javac protoc swiftc kotlinc openssl pandoc magick convert ffmpeg isort black")

// boxCommands are docker's commands that start nothing in an existing container.
var boxCommands = set(`run create cp build buildx builder bake ps images image logs inspect pull push tag rmi rm stop kill network volume system info version login
	logout search stats top port diff events history load save import export wait rename pause update context manifest commit ls config down up watch deploy stack
	kube play scout trust swarm node service secret plugin`)
