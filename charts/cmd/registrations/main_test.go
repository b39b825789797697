package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts"
)

// result is what a command line leads to.
type result struct {
	code        int
	out, errOut string
}

func command(t *testing.T, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	code := run(t.Context(), args, &out, &errOut)
	return result{code, out.String(), errOut.String()}
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestHelp(t *testing.T) {
	for want, args := range map[string][]string{
		usage: {"--help"}, generateHelp: {"generate", "--help"}, checkHelp: {"check", "-h"},
	} {
		assert.Equal(t, result{exitOK, want, ""}, command(t, args...))
	}
}

func TestRun_InvalidArguments(t *testing.T) {
	for sentence, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                    {nil, usage},
		"another command":            {[]string{"apply"}, "registrations: there is no command \"apply\"\n\n" + usage},
		"another flag":               {[]string{"generate", "--only=x"}, "registrations generate: flag provided but not defined: -only\n"},
		"an argument without a flag": {[]string{"check", "eu1"}, "registrations check: \"eu1\" is not understood; --help lists the flags\n"},
		"half of a pair": {
			[]string{"generate", "--values-file", "calico.yaml"},
			"registrations generate: invalid value \"calico.yaml\" for flag -values-file: NAME=VALUE is wanted\n",
		},
		"a digest twice": {
			[]string{"generate", "--image-digest=a=1", "--image-digest=a=2"},
			"registrations generate: invalid value \"a=2\" for flag -image-digest: a is given twice\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, result{exitUsage, "", c.want}, command(t, c.args...))
		})
	}
}

func TestGenerate(t *testing.T) {
	folder := t.TempDir()
	got := command(t, "generate", "--out", folder, "--version=v1.2.3", "--chart-repository=registry.example.org/charts",
		"--image-repository=registry.example.org/images",
		"--values", file(t, "all.yaml", "replicaCount: 3"), "--values-file", "network="+file(t, "calico.yaml", "logLevel: debug"))
	require.Equal(t, exitOK, got.code, got.errOut)
	assert.Contains(t, got.out, folder+"/network: Network of type calico, gardenet by network-controller v1.2.3\n")
	assert.Contains(t, got.out, folder+"/admission: admission of openstack, aws, calico, gardenet, registrations v1.2.3\n")
	assert.Contains(t, got.out, folder+"/controllerinstallation: installer of type trellis v1.2.3\n")

	calico, err := os.ReadFile(filepath.Join(folder, "network", "oci.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(calico), `
  ociRepository:
    repository: registry.example.org/charts/network-controller
    tag: 1.2.3
  values:
    gardenetAgent:
      image:
        repository: registry.example.org/images/gardenet-agent
    gardenetServiceRouter:
      image:
        repository: registry.example.org/images/gardenet-service-router
    image:
      repository: registry.example.org/images/network-controller
    logLevel: debug
    replicaCount: 3
    types:
    - calico
    - gardenet
`)
	worker, err := os.ReadFile(filepath.Join(folder, "worker", "oci.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(worker), "replicaCount: 3")
	assert.NotContains(t, string(worker), "logLevel")
}

func TestGenerate_ImageDigests(t *testing.T) {
	first, second := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	list := file(t, "digests.txt", "registry.example.org/images/network-controller:v1.2.3@"+first+"\nregistry.example.org/images/machine-controller-openstack:v1.2.3@"+first+"\n")
	folder := t.TempDir()
	got := command(t, "generate", "--out", folder, "--version=v1.2.3", "--image-digests", list, "--image-digest=machine-controller-openstack="+second)
	require.Equal(t, exitOK, got.code, got.errOut)
	calico, err := os.ReadFile(filepath.Join(folder, "network", "oci.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(calico), "digest: "+first)
	worker, err := os.ReadFile(filepath.Join(folder, "worker", "oci.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(worker), "digest: "+second, "the flag counts")

	got = command(t, "generate", "--out", t.TempDir(), "--version=v1.2.4", "--image-digests", list)
	assert.NotEqual(t, exitOK, got.code)
	assert.Contains(t, got.errOut, "network-controller has version v1.2.3, and the registrations are to have v1.2.4")
	got = command(t, "generate", "--out", t.TempDir(), "--image-digests", file(t, "digests.txt", "latest\n"))
	assert.Contains(t, got.errOut, `"latest" is no image with version and digest`)
}

func TestGenerate_ChartDigests(t *testing.T) {
	first, second := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	list := file(t, "chart-digests.txt", "registry.example.org/charts/network-controller:1.2.3@"+first+"\nregistry.example.org/charts/worker-controller:1.2.3@"+first+
		"\nregistry.example.org/charts/other:1.2.3@"+first+"\n")
	folder := t.TempDir()
	got := command(t, "generate", "--out", folder, "--version=v1.2.3", "--chart-repository=registry.example.org/charts", "--chart-digests", list,
		"--chart-digest=worker-controller="+second)
	require.Equal(t, exitOK, got.code, got.errOut)
	for name, want := range map[string]string{"network": "digest: " + first, "worker": "digest: " + second, "infrastructure": "tag: 1.2.3"} {
		for _, form := range []string{"oci.yaml", "operator.yaml"} {
			content, err := os.ReadFile(filepath.Join(folder, name, form))
			require.NoError(t, err)
			assert.Contains(t, string(content), "ociRepository:")
			assert.Contains(t, string(content), want+"\n", name+"/"+form)
		}
		content, err := os.ReadFile(filepath.Join(folder, name, "rawchart.yaml"))
		require.NoError(t, err)
		assert.NotContains(t, string(content), "digest:", "the chart is inside")
	}

	got = command(t, "generate", "--out", t.TempDir(), "--version=v1.2.4", "--chart-digests", list)
	assert.Equal(t, exitFailed, got.code)
	assert.Contains(t, got.errOut, "network-controller has version 1.2.3, and the registrations are to have 1.2.4")
	got = command(t, "generate", "--out", t.TempDir(), "--chart-digests", file(t, "chart-digests.txt", "latest\n"))
	assert.Contains(t, got.errOut, `"latest" is no chart with version and digest`)
}

// The list of "make images" has all binaries.
func TestGenerate_ImageDigestsNotInCatalogue(t *testing.T) {
	digest := "sha256:" + strings.Repeat("1", 64)
	var list strings.Builder
	for _, binary := range []string{
		"admission", "controllerinstallation-controller", "controlplane-controller", "infrastructure-controller", "machine-controller-aws",
		"machine-controller-openstack", "network-controller", "worker-controller",
	} {
		list.WriteString("registry.example.org/images/" + binary + ":v1.2.3@" + digest + "\n")
	}
	catalogue := file(t, "catalogue.yaml", "registrations: [{name: network, chart: network-controller, kind: Network, types: [calico]}]")
	for sentence, test := range map[string]struct{ list, flag, want string }{
		"binaries that the catalogue has not are passed over":   {list: list.String()},
		"a list without any binary of the catalogue is refused": {list: "example.org/other:v1.2.3@" + digest, want: "it lists no image of the catalogue; those are network-controller"},
		"an empty list is refused":                              {want: "it lists no image of the catalogue"},
		"the flag names binaries of the catalogue only":         {list: list.String(), flag: "worker-controller=" + digest, want: "there is no worker-controller; there are network-controller"},
	} {
		t.Run(sentence, func(t *testing.T) {
			folder := t.TempDir()
			args := []string{"generate", "--out", folder, "--version=v1.2.3", "--catalogue", catalogue, "--image-digests", file(t, "digests.txt", test.list)}
			if test.flag != "" {
				args = append(args, "--image-digest", test.flag)
			}
			got := command(t, args...)
			if test.want != "" {
				assert.Equal(t, exitFailed, got.code)
				assert.Contains(t, got.errOut, test.want)
				return
			}
			require.Equal(t, exitOK, got.code, got.errOut)
			calico, err := os.ReadFile(filepath.Join(folder, "network", "oci.yaml"))
			require.NoError(t, err)
			assert.Contains(t, string(calico), "digest: "+digest)
		})
	}
}

func TestGenerate_InstallerConfig(t *testing.T) {
	folder := t.TempDir()
	got := command(t, "generate", "--out", folder, "--config", file(t, "all.yaml", "rollout: {soakTime: 1h}\nhistoryLimit: 3"),
		"--config-file", "network="+file(t, "calico.yaml", "rollout: {paused: true}"))
	require.Equal(t, exitOK, got.code, got.errOut)
	calico, err := os.ReadFile(filepath.Join(folder, "network", "trellis.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(calico), `
  historyLimit: 3
  kind: ControllerDeploymentConfig
  rollout:
    maxUnavailable: 25%
    paused: true
    rollback: Automatic
    soakTime: 1h
  values:
    types:
    - calico
    - gardenet
type: trellis
`)
	worker, err := os.ReadFile(filepath.Join(folder, "worker", "trellis.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(worker), "soakTime: 1h")
	assert.NotContains(t, string(worker), "paused")
}

func TestGenerate_Charts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "charts")
	got := command(t, "generate", "--out", t.TempDir(), "--charts", folder, "--version=v1.2.3")
	require.Equal(t, exitOK, got.code, got.errOut)
	written, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	all := slices.Concat(charts.Names(), charts.AdmissionNames(), charts.InstallationNames())
	require.Len(t, written, len(all))
	for _, name := range all {
		content, err := os.ReadFile(filepath.Join(folder, name+"-1.2.3.tgz"))
		require.NoError(t, err)
		want, err := charts.Archive(name, "v1.2.3")
		require.NoError(t, err)
		assert.Equal(t, want, content, name)
	}
}

func TestGenerate_WritesNothingOnError(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	broken := file(t, "catalogue.yaml", "registrations:\n- {name: x, chart: worker-controller, kind: Worker}\n")
	for sentence, c := range map[string]struct {
		args []string
		want string
	}{
		"in the catalogue": {
			[]string{"--catalogue", broken},
			"registrations generate: nothing is written, since this is wrong in " + broken + ":\nregistrations[0].types: is missing; name at least one " +
				"type, since the binary serves none that it is not given\n",
		},
		"in the flags": {
			[]string{"--chart-digest=calico=sha256:1"},
			"registrations generate: nothing is written:\nchart digest of calico: there is no calico; there are infrastructure-controller, " +
				"controlplane-controller, network-controller, worker-controller, admission-runtime, admission-application, " +
				"controllerinstallation-controller-seed, controllerinstallation-controller-runtime, controllerinstallation-controller-application\n",
		},
		"with the catalogue's file": {
			[]string{"--catalogue", missing}, "registrations generate: reading the catalogue: open " + missing + ": no such file or directory\n",
		},
		"with a file of the installer's": {
			[]string{"--config", missing}, "registrations generate: reading a configuration: open " + missing + ": no such file or directory\n",
		},
		"with a file of values": {
			[]string{"--values", missing}, "registrations generate: reading values: open " + missing + ": no such file or directory\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "out")
			assert.Equal(t, result{exitFailed, "", c.want}, command(t, append([]string{"generate", "--out", folder}, c.args...)...))
			assert.NoDirExists(t, folder)
		})
	}
}

func TestGenerate_ValuesNotAMapping(t *testing.T) {
	got := command(t, "generate", "--out", t.TempDir(), "--values", file(t, "values.yaml", "- a"))
	assert.NotEqual(t, exitOK, got.code)
	assert.True(t, strings.HasPrefix(got.errOut, "registrations generate: reading values: "), got.errOut)
	assert.Contains(t, got.errOut, "values.yaml must be a mapping in YAML")
}

func TestCheck_WithoutKubeconfig(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "kubeconfig")
	got := command(t, "check", "--kubeconfig", missing)
	assert.Equal(t, result{exitFailed, "", "registrations check: reading the kubeconfig: stat " + missing + ": no such file or directory\n"}, got)
}
