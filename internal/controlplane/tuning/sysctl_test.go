package tuning

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const kernelSettingsPath = "/etc/sysctl.d/99-k8s-general.conf"

func TestTuneOperatingSystemConfig_Sysctls(t *testing.T) {
	const parameter = "net.ipv4.neigh.default.gc_thresh1"
	for sentence, test := range map[string]struct{ before, after string }{
		"a new parameter comes last":        {"a = 1\n", "a = 1\n" + parameter + " = 0\n"},
		"also after an unfinished line":     {"a = 1", "a = 1\n" + parameter + " = 0\n"},
		"an empty file":                     {"", parameter + " = 0\n"},
		"another value changes in its line": {parameter + "=80000\nb = 2\n", parameter + " = 0\nb = 2\n"},
		"twice is once":                     {parameter + " = 1\n- " + parameter + " = 2\n", parameter + " = 0\n"},
		"a comment stays":                   {"# " + parameter + " = 80000\n", "# " + parameter + " = 80000\n" + parameter + " = 0\n"},
		"one with a longer name stays":      {parameter + "0 = 1\n", parameter + "0 = 1\n" + parameter + " = 0\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := nodeConfig()
			config.Spec.Files = append(config.Spec.Files, extensionsv1alpha1.File{Path: kernelSettingsPath, Content: inline(test.before)})
			for range 2 {
				require.NoError(t, TuneOperatingSystemConfig(config, Tuning{Sysctls: map[string]string{parameter: "0"}}))
				assert.Equal(t, test.after, config.Spec.Files[2].Content.Inline.Data)
			}
		})
	}
	t.Run("nothing is set where Gardener sets nothing", func(t *testing.T) {
		config := nodeConfig()
		require.NoError(t, TuneOperatingSystemConfig(config, Tuning{Sysctls: map[string]string{parameter: "0"}}))
		assert.Equal(t, nodeConfig(), config)
	})
}

func TestTuneDeployment_EntriesAndEnv(t *testing.T) {
	pod := Pod{SetEntries: map[string]map[string]string{"--feature-gates": {"B": "true"}}}
	for sentence, test := range map[string]struct{ args, want []string }{
		"a new flag":                    {[]string{"--z=1"}, []string{"--z=1", "--feature-gates=B=true"}},
		"other entries stay":            {[]string{"--feature-gates=A=true,C=false", "--z=1"}, []string{"--feature-gates=A=true,C=false,B=true", "--z=1"}},
		"another value is replaced":     {[]string{"--feature-gates=B=false,C=false"}, []string{"--feature-gates=C=false,B=true"}},
		"lists are joined":              {[]string{"--feature-gates", "A=1", "--feature-gates=C=2,A=3"}, []string{"--feature-gates=A=3,C=2,B=true"}},
		"a flag without a value is one": {[]string{"--feature-gates", "--z=1"}, []string{"--feature-gates=B=true", "--z=1"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			deployment := deploymentWith([]string{"/kube-thing"}, test.args)
			for range 2 {
				require.NoError(t, TuneClusterAutoscaler(deployment, pod))
				assert.Equal(t, test.want, deployment.Spec.Template.Spec.Containers[1].Args)
			}
		})
	}
	t.Run("variables are removed from the main container", func(t *testing.T) {
		deployment := deploymentWith(nil, nil)
		for i := range deployment.Spec.Template.Spec.Containers {
			deployment.Spec.Template.Spec.Containers[i].Env = []corev1.EnvVar{{Name: "KEY"}, {Name: "OTHER"}}
		}
		require.NoError(t, TuneKubeScheduler(deployment, Pod{DropEnv: []string{"KEY"}}))
		assert.Len(t, deployment.Spec.Template.Spec.Containers[0].Env, 2)
		assert.Equal(t, []corev1.EnvVar{{Name: "OTHER"}}, deployment.Spec.Template.Spec.Containers[1].Env)
	})
}
