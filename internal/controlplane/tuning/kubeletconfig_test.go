package tuning

import (
	"encoding/base64"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func encodings() map[string]func(string) string {
	return map[string]func(string) string{
		"":    func(plain string) string { return plain },
		"b64": func(plain string) string { return base64.StdEncoding.EncodeToString([]byte(plain)) },
	}
}

func TestTuneKubeletConfig(t *testing.T) {
	fields := map[string]any{"enableControllerAttachDetach": true, "resolvConf": "/etc/other.conf", "limit": 7, "gates": map[string]bool{"A": true}}
	for sentence, test := range map[string]struct{ config, want string }{
		"fields are set or replaced, and those of a later version survive": {
			`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
resolvConf: /etc/resolv.conf
maxPods: 110
neverHeardOf:
  big: 9007199254740993
  text: "on"
  list: [b, a]
`,
			`apiVersion: kubelet.config.k8s.io/v1beta1
enableControllerAttachDetach: true
gates:
  A: true
kind: KubeletConfiguration
limit: 7
maxPods: 110
neverHeardOf:
  big: 9007199254740993
  list:
  - b
  - a
  text: "on"
resolvConf: /etc/other.conf
`,
		},
		"a configuration that is right keeps its bytes": {
			"kind: KubeletConfiguration\n# a comment\nlimit:   7\nresolvConf: '/etc/other.conf'\ngates: {A: true}\nenableControllerAttachDetach: true\n",
			"kind: KubeletConfiguration\n# a comment\nlimit:   7\nresolvConf: '/etc/other.conf'\ngates: {A: true}\nenableControllerAttachDetach: true\n",
		},
	} {
		for encoding, encode := range encodings() {
			t.Run(sentence+", encoding "+encoding, func(t *testing.T) {
				content := &extensionsv1alpha1.FileContentInline{Encoding: encoding, Data: encode(test.config)}
				for range 2 {
					require.NoError(t, tuneKubeletConfig(content, fields))
					assert.Equal(t, &extensionsv1alpha1.FileContentInline{Encoding: encoding, Data: encode(test.want)}, content)
				}
			})
		}
	}
}

func TestTuneKubeletConfig_Errors(t *testing.T) {
	for sentence, test := range map[string]struct {
		content extensionsv1alpha1.FileContentInline
		want    string
	}{
		"an encoding that no node understands": {
			extensionsv1alpha1.FileContentInline{Encoding: "gzip", Data: "x"}, `invalid file codec id "gzip"`,
		},
		"no base64": {
			extensionsv1alpha1.FileContentInline{Encoding: "b64", Data: "%"}, "decoding b64: illegal base64 data at input byte 0",
		},
		"no YAML": {
			extensionsv1alpha1.FileContentInline{Data: "a: b: c"}, "reading YAML: yaml: mapping values are not allowed in this context",
		},
		"a list": {
			extensionsv1alpha1.FileContentInline{Data: "- a"}, "reading the KubeletConfiguration: json: cannot unmarshal array into Go value of type map[string]interface {}",
		},
		"nothing": {
			extensionsv1alpha1.FileContentInline{}, "expected a document of kind KubeletConfiguration",
		},
		"another kind": {
			extensionsv1alpha1.FileContentInline{Data: "kind: ConfigMap"}, "expected a document of kind KubeletConfiguration",
		},
		"a field twice": {
			extensionsv1alpha1.FileContentInline{Data: "kind: KubeletConfiguration\nkind: KubeletConfiguration\n"},
			"reading YAML: yaml: unmarshal errors:\n  line 2: key \"kind\" already set in map",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.EqualError(t, tuneKubeletConfig(&test.content, map[string]any{"a": 1}), test.want)
		})
	}
}
