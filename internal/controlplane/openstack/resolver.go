package openstack

import (
	"fmt"
	"regexp"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

const (
	// resolvConf is the file that kubelets use as pods' resolv.conf.
	resolvConf = "/etc/resolv-for-kubelet.conf"
	// resolvScript writes it. All names are upstream's, so that adopted nodes keep their files and units.
	resolvScript = "/opt/bin/update-resolv-conf.sh"
)

// resolver adds a landscape's options to nodes' resolv.conf.
type resolver struct{ options []string }

// newResolver reads the options from a cloud profile. They become part of a script, so only valid options are used (resolv.conf(5): names, numbers, and
// colons between them). Others are left out: they are an admin's error, and all shoots of the cloud profile must keep working.
func newResolver(profile *openstackv1alpha1.CloudProfileConfig) resolver {
	validOption := regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
	var r resolver
	for _, entry := range profile.ResolvConfOptions {
		for option := range strings.FieldsSeq(entry) {
			if validOption.MatchString(option) {
				r.options = append(r.options, option)
			}
		}
	}
	return r
}

// units run the script when the machine starts, before the kubelet, and whenever its resolv.conf changes. Without the second, a new name server would not
// reach pods.
func (r resolver) units() []extensionsv1alpha1.Unit {
	return []extensionsv1alpha1.Unit{
		{Name: "update-resolv-conf.path", Enable: new(true), Content: new(resolvPathUnit)},
		{Name: "update-resolv-conf.service", Enable: new(true), Content: new(resolvServiceUnit), FilePaths: []string{resolvScript}},
	}
}

func (r resolver) files() []extensionsv1alpha1.File {
	return []extensionsv1alpha1.File{{
		Path:        resolvScript,
		Permissions: new(uint32(0o755)),
		Content: extensionsv1alpha1.FileContent{
			Inline: &extensionsv1alpha1.FileContentInline{Data: fmt.Sprintf(resolvScriptTemplate, strings.Join(r.options, " "))},
		},
	}}
}

const resolvPathUnit = `[Unit]
Description=Watch the name servers of this machine

[Path]
PathChanged=/run/systemd/resolve/resolv.conf
PathChanged=/etc/resolv.conf

[Install]
WantedBy=multi-user.target
`

const resolvServiceUnit = `[Unit]
Description=Make ` + resolvConf + ` from the resolv.conf of this machine
After=network.target
Before=kubelet.service
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=` + resolvScript + `

[Install]
WantedBy=multi-user.target
`

// resolvScriptTemplate takes the options. The old file stays until the new one is complete, and as long as nobody names a server: while
// systemd-resolved starts or loses its lease its file is there and names none, and pods that start meanwhile would keep that. Only where no old file
// names a server, a link leads to where servers will be named. That is systemd-resolved's file wherever its listener is named.
const resolvScriptTemplate = `#!/bin/sh
# Makes the file that pods get as their resolv.conf: the machine's own, with the options of the cloud profile.
set -eu
umask 022

options='%s'
target=` + resolvConf + `
resolved=/run/systemd/resolve/resolv.conf
plain=/etc/resolv.conf
# systemd-resolved's listeners, which pods cannot reach.
listener='^[[:space:]]*nameserver[[:space:]][[:space:]]*127\.0\.0\.5[34][[:space:]]*$'

# Tells whether a file names a server besides these.
names_server() {
  [ -f "$1" ] && grep '^[[:space:]]*nameserver[[:space:]]' "$1" | grep -qv "$listener"
}

source=
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  if names_server "$resolved"; then
    source=$resolved
  elif [ ! -f "$resolved" ] && names_server "$plain"; then
    source=$plain
  fi
  [ -z "$source" ] || break
  sleep 1
done

rm -f "$target.new"
if [ -n "$source" ]; then
  {
    sed "/$listener/d" "$source"
    [ -z "$options" ] || printf '\noptions %%s\n' "$options"
  } >"$target.new"
elif names_server "$target"; then
  echo "kept $target: nobody names a server"
  exit 0
elif [ -d "$(dirname "$resolved")" ] || grep -qs "$listener" "$plain"; then
  source=$resolved
  ln -s "$source" "$target.new"
else
  source=$plain
  ln -s "$source" "$target.new"
fi
mv -f "$target.new" "$target"
echo "made $target from $source"
`
