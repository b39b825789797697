package tuning

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kubeletUnit is in the form that Gardener writes.
const kubeletUnit = `[Unit]
Description=kubelet daemon
After=containerd.service
[Install]
WantedBy=multi-user.target
[Service]
Restart=always
Environment="A=1" "B=2"
EnvironmentFile=-/var/lib/kubelet/extra_args
ExecStart=/opt/bin/kubelet \
    --config=/var/lib/kubelet/config/kubelet \
    --node-labels=a=b \
    --node-labels=c=d \
    --v=2 $KUBELET_EXTRA_ARGS`

func TestTuneKubeletUnit(t *testing.T) {
	kubelet := Kubelet{
		SetFlags:    map[string]string{"--cloud-provider": "external"},
		StartBefore: []string{"/bin/one", "/bin/two --x"},
	}
	for sentence, test := range map[string]struct{ unit, want string }{
		"a new flag comes last and commands come right before the kubelet's": {
			kubeletUnit,
			strings.Replace(kubeletUnit, "ExecStart=", "ExecStartPre=/bin/one\nExecStartPre=/bin/two --x\nExecStart=", 1) +
				" \\\n    --cloud-provider=external",
		},
		"a flag with another value changes in its place": {
			"[Service]\nExecStart=/kubelet --cloud-provider=aws --v=2\n",
			"[Service]\nExecStartPre=/bin/one\nExecStartPre=/bin/two --x\nExecStart=/kubelet --cloud-provider=external --v=2\n",
		},
		"a quoted flag is the same flag, and a value in the next word belongs to it": {
			"[Service]\nExecStart=/kubelet '--cloud-provider=aws' \\\n  --cloud-provider \\\n  gcp --v=2\n",
			"[Service]\nExecStartPre=/bin/one\nExecStartPre=/bin/two --x\n" +
				"ExecStart=/kubelet --cloud-provider=external \\\n  --cloud-provider=external --v=2\n",
		},
		"what only looks like the flag is left alone": {
			"[Service]\nExecStart=/kubelet \"--x= --cloud-provider=aws \" \\\n# --cloud-provider=azure\n --cloud-provider-x=1 \\\n\nRestart=no\n",
			"[Service]\nExecStartPre=/bin/one\nExecStartPre=/bin/two --x\n" +
				"ExecStart=/kubelet \"--x= --cloud-provider=aws \" \\\n# --cloud-provider=azure\n --cloud-provider-x=1 \\\n    --cloud-provider=external \\\n\nRestart=no\n",
		},
		"a command that is there already is not added": {
			"[Service]\nExecStartPre=/bin/two --x\nExecStartPre=/bin/three\nExecStart=/kubelet --cloud-provider=external",
			"[Service]\nExecStartPre=/bin/two --x\nExecStartPre=/bin/three\nExecStartPre=/bin/one\nExecStart=/kubelet --cloud-provider=external",
		},
		"an ExecStart that takes back and one of another section are not the kubelet's": {
			"[X]\nExecStart=/x\n[Service]\nExecStart=\n; comment\nExecStart=/kubelet",
			"[X]\nExecStart=/x\n[Service]\nExecStart=\n; comment\nExecStartPre=/bin/one\nExecStartPre=/bin/two --x\nExecStart=/kubelet \\\n    --cloud-provider=external",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := tuneKubeletUnit(test.unit, kubelet)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			again, err := tuneKubeletUnit(got, kubelet)
			require.NoError(t, err)
			assert.Equal(t, got, again, "a second pass")
		})
	}
}

func TestTuneKubeletUnit_Errors(t *testing.T) {
	for sentence, test := range map[string]struct {
		unit    string
		kubelet Kubelet
		want    string
	}{
		"no command": {
			"[Service]\nRestart=always\n", Kubelet{StartBefore: []string{"/x"}}, "expected exactly one ExecStart in the section Service",
		},
		"an empty text": {
			"", Kubelet{SetFlags: map[string]string{"--a": "b"}}, "expected exactly one ExecStart in the section Service",
		},
		"two commands": {
			"[Service]\nExecStart=/a\nExecStart=/b\n", Kubelet{SetFlags: map[string]string{"--a": "b"}}, "expected exactly one ExecStart in the section Service",
		},
		"a command of nothing but an end of line": {
			"[Service]\nExecStart=\\\n", Kubelet{SetFlags: map[string]string{"--a": "b"}}, "reading ExecStart: there is no command",
		},
		"an open quote": {
			"[Service]\nExecStart=/kubelet \"--x\n", Kubelet{SetFlags: map[string]string{"--a": "b"}}, "reading ExecStart: a quote is opened and never closed",
		},
		"no unit at all": {
			"[Service]\nRestart=always \\\n\nkubelet\n", Kubelet{StartBefore: []string{"/x"}}, "line 4 of the unit is neither a section nor an assignment in one",
		},
		"an assignment without a section": {
			"Restart=always\n", Kubelet{StartBefore: []string{"/x"}}, "line 1 of the unit is neither a section nor an assignment in one",
		},
		"a value that would become two words": {
			kubeletUnit, Kubelet{SetFlags: map[string]string{"--a": "b --c"}}, `the value of the flag --a does not fit into a unit: "b --c"`,
		},
		"a command that would become two lines": {
			kubeletUnit, Kubelet{StartBefore: []string{"/x\nExecStart=/y"}}, `a command does not fit into one line of a unit: "/x\nExecStart=/y"`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := tuneKubeletUnit(test.unit, test.kubelet)
			require.EqualError(t, err, test.want)
		})
	}
}

// Whatever the unit, tuning it neither panics nor changes a byte that is not its own, and a second pass changes nothing.
func FuzzKubeletUnit(f *testing.F) {
	f.Add(kubeletUnit)
	f.Add("[Service]\nExecStart=/kubelet \\\n# comment\n --x='a b' \"--y\" \\\n")
	f.Add("[Service]\n ExecStart = -/kubelet\\x20\\\n")
	f.Add("[Service]\r\nExecStart=/kubelet \\\r\n --v=2\r\n")
	f.Fuzz(func(t *testing.T, unit string) {
		const flag, command = "--added-flag", "/bin/added-command"
		if strings.Contains(unit, flag) || strings.Contains(unit, command) {
			return
		}
		kubelet := Kubelet{SetFlags: map[string]string{flag: "yes"}, StartBefore: []string{command}}
		tuned, err := tuneKubeletUnit(unit, kubelet)
		if err != nil {
			return
		}
		again, err := tuneKubeletUnit(tuned, kubelet)
		require.NoError(t, err)
		require.Equal(t, tuned, again)
		rest := strings.Replace(tuned, "ExecStartPre="+command+"\n", "", 1)
		rest = strings.Replace(rest, " \\\n    "+flag+"=yes", "", 1)
		require.Equal(t, unit, rest)
	})
}
