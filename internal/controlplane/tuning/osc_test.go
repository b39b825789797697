package tuning

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const kubeletConfigPath = "/var/lib/kubelet/config/kubelet"

func inline(data string) extensionsv1alpha1.FileContent {
	return extensionsv1alpha1.FileContent{Inline: &extensionsv1alpha1.FileContentInline{Data: data}}
}

func nodeConfig() *extensionsv1alpha1.OperatingSystemConfig {
	return &extensionsv1alpha1.OperatingSystemConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "pool"},
		Spec: extensionsv1alpha1.OperatingSystemConfigSpec{
			Purpose: extensionsv1alpha1.OperatingSystemConfigPurposeReconcile,
			Units: []extensionsv1alpha1.Unit{
				{Name: "containerd.service", Content: new("[Service]\nExecStart=/containerd --cloud-provider=no\n")},
				{Name: "kubelet.service", Content: new("[Service]\nExecStart=/kubelet\n"), FilePaths: []string{kubeletConfigPath}},
				{Name: "mine.service", Content: new("[Service]\n")},
			},
			Files: []extensionsv1alpha1.File{
				{Path: "/opt/mine", Content: inline("old")},
				{Path: kubeletConfigPath, Permissions: new(uint32(0o600)), Content: inline("kind: KubeletConfiguration\n")},
			},
		},
	}
}

func fullTuning() Tuning {
	return Tuning{
		Kubelet: Kubelet{
			SetFlags: map[string]string{"--cloud-provider": "external"}, StartBefore: []string{"/x"}, Config: map[string]any{"a": true},
		},
		Units: []extensionsv1alpha1.Unit{{Name: "mine.service", Enable: new(true)}, {Name: "new.service"}},
		Files: []extensionsv1alpha1.File{{Path: "/opt/mine", Content: inline("new")}, {Path: "/opt/new", Content: inline("new")}},
	}
}

func TestTuneOperatingSystemConfig(t *testing.T) {
	config, want, tuning := nodeConfig(), nodeConfig(), fullTuning()
	want.Spec.Units[1].Content = new("[Service]\nExecStartPre=/x\nExecStart=/kubelet \\\n    --cloud-provider=external\n")
	want.Spec.Units[2] = tuning.Units[0]
	want.Spec.Units = append(want.Spec.Units, tuning.Units[1])
	want.Spec.Files[0] = tuning.Files[0]
	want.Spec.Files[1].Content = inline("a: true\nkind: KubeletConfiguration\n")
	want.Spec.Files = append(want.Spec.Files, tuning.Files[1])

	require.NoError(t, TuneOperatingSystemConfig(config, tuning))
	assert.Empty(t, cmp.Diff(want, config))
	require.NoError(t, TuneOperatingSystemConfig(config, tuning))
	assert.Empty(t, cmp.Diff(want, config), "a second pass")

	*config.Spec.Units[2].Enable = false
	config.Spec.Files[0].Content.Inline.Data = "changed"
	assert.Empty(t, cmp.Diff(fullTuning(), tuning), "the tuning shares nothing with the object")
}

func TestTuneOperatingSystemConfig_Unchanged(t *testing.T) {
	for sentence, change := range map[string]func(*extensionsv1alpha1.OperatingSystemConfig, *Tuning){
		"machines are only provisioned with it": func(config *extensionsv1alpha1.OperatingSystemConfig, _ *Tuning) {
			config.Spec.Purpose = extensionsv1alpha1.OperatingSystemConfigPurposeProvision
		},
		"there are no units and files": func(config *extensionsv1alpha1.OperatingSystemConfig, tuning *Tuning) {
			config.Spec.Units, config.Spec.Files, tuning.Units, tuning.Files = nil, nil, nil, nil
		},
		"the unit only adds to one of the system, and the file is elsewhere": func(config *extensionsv1alpha1.OperatingSystemConfig, tuning *Tuning) {
			config.Spec.Units[1].Content, config.Spec.Files[1].Content.Inline = nil, nil
			config.Spec.Files[1].Content.SecretRef = &extensionsv1alpha1.FileContentSecretRef{Name: "a", DataKey: "b"}
			tuning.Units, tuning.Files = nil, nil
		},
		"nothing is to be tuned": func(config *extensionsv1alpha1.OperatingSystemConfig, tuning *Tuning) {
			*config.Spec.Units[1].Content, config.Spec.Files[1].Content = "damaged", inline("damaged")
			*tuning = Tuning{}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, tuning := nodeConfig(), fullTuning()
			change(config, &tuning)
			before := config.DeepCopy()
			require.NoError(t, TuneOperatingSystemConfig(config, tuning))
			assert.Empty(t, cmp.Diff(before, config))
		})
	}
}

func TestTuneOperatingSystemConfig_Errors(t *testing.T) {
	for want, damage := range map[string]func(*extensionsv1alpha1.OperatingSystemConfig){
		"tuning OperatingSystemConfig shoot--dev--one/pool: spec.units[kubelet.service].content: Invalid value: " +
			"expected exactly one ExecStart in the section Service": func(config *extensionsv1alpha1.OperatingSystemConfig) {
			*config.Spec.Units[1].Content = "[Service]\n"
		},
		"tuning OperatingSystemConfig shoot--dev--one/pool: spec.files[/var/lib/kubelet/config/kubelet].content.inline: Invalid value: " +
			"expected a document of kind KubeletConfiguration": func(config *extensionsv1alpha1.OperatingSystemConfig) {
			config.Spec.Files[1].Content.Inline.Data = ""
		},
	} {
		t.Run(want, func(t *testing.T) {
			config := nodeConfig()
			damage(config)
			before := config.DeepCopy()
			require.EqualError(t, TuneOperatingSystemConfig(config, fullTuning()), want)
			assert.Empty(t, cmp.Diff(before, config))
		})
	}
}
