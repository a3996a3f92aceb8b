# Installs Fairlead's node for this user. It was made by the gateway at {{.Base}} and checks what it downloads from there.
# All of it is one block: nothing runs of a script that was cut off on its way, and the session it is run in keeps its own variables.
& {
	$ErrorActionPreference = 'Stop'

	$base = '{{.Base}}'
	$pin = '{{.Pin}}'
	$into = if ($env:FAIRLEAD_BIN) { $env:FAIRLEAD_BIN } else { Join-Path $env:LOCALAPPDATA 'Programs\Fairlead' }

	$arch = switch ($env:PROCESSOR_ARCHITECTURE) { 'AMD64' { 'amd64' } 'ARM64' { 'arm64' } 'x86' { '386' } default { throw "no node is made for $_" } }
	$name, $sum = switch ("windows-$arch") {
{{- range .Files}}
		'{{.Platform}}' { '{{.Name}}', '{{.Sum}}' }
{{- end}}
		default { throw "this gateway ships no node for ${_}: {{.Missing}}" }
	}

	New-Item -ItemType Directory -Force -Path $into | Out-Null
	$new = Join-Path $into ('fairlead-node-' + [guid]::NewGuid() + '.tmp')
	$node = Join-Path $into 'fairlead-node.exe'
	try {
		if ($pin) {
			curl.exe -fsSk --pinnedpubkey "sha256//$pin" -o $new "$base/install/$name"
		} else {
			curl.exe -fsS -o $new "$base/install/$name"
		}
		if ($LASTEXITCODE -ne 0) { throw "could not download $name" }
		if ((Get-FileHash -Algorithm SHA256 -LiteralPath $new).Hash -ne $sum) { throw 'what was downloaded is not what the gateway ships: nothing was installed' }
		try {
			Move-Item -Force -LiteralPath $new -Destination $node
		} catch {
			throw "$node cannot be replaced while it runs: stop it, then run this again. $_"
		}
	} finally {
		if (Test-Path -LiteralPath $new) { Remove-Item -LiteralPath $new }
	}
	Write-Host "Installed $node."
	if ($env:FAIRLEAD_PAIR) {
		# The link is a secret: it is neither an argument nor in the environment of the node.
		$link = $env:FAIRLEAD_PAIR
		Remove-Item Env:FAIRLEAD_PAIR
		$folder = if ($env:FAIRLEAD_WORKSPACE) { $env:FAIRLEAD_WORKSPACE } else { $env:USERPROFILE }
		$flags = @('--workspace', $folder)
		if ($env:FAIRLEAD_NAME) { $flags += '--id', $env:FAIRLEAD_NAME }
		$link | & $node --pair - --only-pair @flags
		if ($LASTEXITCODE -ne 0) { throw 'this machine was not paired' }
		$action = New-ScheduledTaskAction -Execute $node -Argument (($flags | ForEach-Object { '"' + $_ + '"' }) -join ' ')
		$trigger = New-ScheduledTaskTrigger -AtLogOn -User ([Security.Principal.WindowsIdentity]::GetCurrent().Name)
		$settings = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -ExecutionTimeLimit 0 -RestartCount 999 -RestartInterval (New-TimeSpan -Minutes 1)
		Register-ScheduledTask -Force -TaskName 'Fairlead node' -Action $action -Trigger $trigger -Settings $settings | Out-Null
		Start-ScheduledTask -TaskName 'Fairlead node'
		Write-Host 'The node runs, and starts when you sign in.'
		return
	}
	Write-Host 'Pair this machine with the link or code that "fairlead pair" shows at the gateway:'
	Write-Host "  & '$($node.Replace("'", "''"))' --pair LINK --workspace FOLDER"
}
