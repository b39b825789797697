package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/markdown"
	"github.com/trellis-garden/trellis/charts/registration"
)

// root is that of the repository, as seen from here.
const root = "../../.."

func readPage(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	require.NoError(t, err)
	return string(content)
}

// section is what stands under a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	part, found := markdown.Section(page, heading)
	require.True(t, found, heading)
	return part
}

// TestPages_InstallBlocks follows the pages that say how to install as far as no registry is needed: images and registrations are of one version and one registry.
func TestPages_InstallBlocks(t *testing.T) {
	install := readPage(t, "docs", "operations", "install.md")
	for name, part := range map[string]string{
		"docs/operations/install.md":     markdown.Blocks(section(t, install, "## Images and registrations"), "console")[0].Text,
		"charts/registrations/README.md": regexp.MustCompile(`(?m)^ {4}`).ReplaceAllString(readPage(t, "charts", "registrations", "README.md"), ""),
	} {
		t.Run(name, func(t *testing.T) {
			one := regexp.MustCompile(`(?m)^VERSION=(\S+) REPOSITORY=(\S+)$`).FindStringSubmatch(part)
			require.NotNil(t, one)
			assert.Regexp(t, `(?m)^make images VERSION=\$VERSION PUSH=\$REPOSITORY( |$)`, part)
			written := regexp.MustCompile(`(?m)^make registrations VERSION=\$VERSION OUT=(\S+) ARGS="(.*?)"`).FindStringSubmatch(part)
			require.NotNil(t, written)
			applied := regexp.MustCompile(`(?m)^kubectl apply -f (\S+)$`).FindStringSubmatch(part)
			require.NotNil(t, applied)
			file, inFolder := strings.CutPrefix(applied[1], written[1]+"/")
			require.True(t, inFolder, "%s is not in %s", applied[1], written[1])

			folder := t.TempDir()
			arguments := strings.Fields(strings.ReplaceAll(written[2], "$REPOSITORY", one[2]))
			got := command(t, append([]string{"generate", "--version", one[1], "--out", folder}, arguments...)...)
			require.Equal(t, exitOK, got.code, got.errOut)
			content, err := os.ReadFile(filepath.Join(folder, file))
			require.NoError(t, err)
			assert.Contains(t, string(content), "# Version: "+one[1]+"\n")
			assert.Contains(t, string(content), "repository: "+one[2]+"/")
		})
	}
}

// TestPages_ReleaseBlocks checks that what the pages apply is among the registrations of a release.
func TestPages_ReleaseBlocks(t *testing.T) {
	folder := t.TempDir()
	require.Equal(t, exitOK, command(t, "generate", "--version", "v0.1.0", "--out", filepath.Join(folder, "registrations")).code)
	for name, part := range map[string]string{
		"docs/operations/install.md": markdown.Blocks(section(t, readPage(t, "docs", "operations", "install.md"), "## Install a release"), "console")[0].Text,
		"README.md":                  markdown.Blocks(section(t, readPage(t, "README.md"), "## Install"), "")[0].Text,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Regexp(t, `(?m)^VERSION=v0\.1\.0$`, part)
			assert.Contains(t, part, "https://github.com/trellis-garden/trellis/releases/download/$VERSION")
			assert.Contains(t, part, "registrations.tar.gz")
			applied := regexp.MustCompile(`(?m)^kubectl apply -f (\S+)$`).FindStringSubmatch(part)
			require.NotNil(t, applied)
			assert.FileExists(t, filepath.Join(folder, applied[1]))
		})
	}
}

// TestPages_MoveWithVersion runs the first block of a move from upstream's extensions, which looks at what the others are going to apply.
func TestPages_MoveWithVersion(t *testing.T) {
	steps := section(t, readPage(t, "docs", "operations", "migrate-from-upstream.md"), "### Step 0: functions for the other steps")
	blocks := markdown.Blocks(steps, "sh")
	require.Len(t, blocks, 1)
	ofVersion := t.TempDir()
	require.Equal(t, exitOK, command(t, "generate", "--version", "v0.1.0", "--out", ofVersion).code)
	committed, err := filepath.Abs(filepath.Join(root, "charts", "registrations"))
	require.NoError(t, err)
	for sentence, c := range map[string]struct {
		environment []string
		// says is in what is printed; refused tells whether it ends there.
		wantText string
		refused  bool
	}{
		"no folder":                       {nil, "REGISTRATIONS: the folder that make registrations", true},
		"a folder without files":          {[]string{"REGISTRATIONS=" + t.TempDir()}, "network/rawchart.yaml: No such file", true},
		"what is committed":               {[]string{"REGISTRATIONS=" + committed}, "network/rawchart.yaml is of no version, and nobody has images of it", true},
		"what was written for a version":  {[]string{"REGISTRATIONS=" + ofVersion}, "# Version: v0.1.0", false},
		"charts from a registry":          {[]string{"REGISTRATIONS=" + ofVersion, "FORM=oci"}, "# Version: v0.1.0", false},
		"the older form":                  {[]string{"REGISTRATIONS=" + ofVersion, "FORM=v1beta1"}, "# Version: v0.1.0", false},
		"the type of the operator":        {[]string{"REGISTRATIONS=" + ofVersion, "FORM=trellis"}, "FORM=trellis: this move is by rawchart, oci or v1beta1", true},
		"what gardener-operator is given": {[]string{"REGISTRATIONS=" + ofVersion, "FORM=operator"}, "FORM=operator: this move is by", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			bash := exec.CommandContext(t.Context(), "bash", "-s")
			bash.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GARDEN=garden", "SEEDS=seed"}, c.environment...)
			bash.Stdin = strings.NewReader(blocks[0].Text)
			var output bytes.Buffer
			bash.Stdout, bash.Stderr = &output, &output
			err := bash.Run()
			assert.Equal(t, c.refused, err != nil, output.String())
			assert.Contains(t, output.String(), c.wantText)
		})
	}
}

// TestPages_FreshLandscape holds what a landscape that never had upstream's extensions registers besides against what Trellis registers: nothing of OpenStack is
// served twice or by nobody, and of upstream's controllers those are off whose kinds are ours.
func TestPages_FreshLandscape(t *testing.T) {
	var deployment gardencorev1.ControllerDeployment
	var upstreamRegistration gardencorev1beta1.ControllerRegistration
	documents := strings.Split(readPage(t, "docs", "examples", "openstack", "provider-openstack.yaml"), "\n---\n")
	require.Len(t, documents, 2)
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &deployment))
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &upstreamRegistration))
	catalogue, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)

	// What upstream's registration has (its example/controller-registration.yaml).
	upstream := []string{"BackupBucket", "BackupEntry", "Bastion", "ControlPlane", "DNSRecord", "Infrastructure", "Worker"}
	var all, off []string
	for _, resource := range upstreamRegistration.Spec.Resources {
		all = append(all, resource.Kind)
	}
	for _, entry := range catalogue.Primaries().Registrations {
		if slices.Contains(entry.Types, "openstack") {
			all, off = append(all, entry.Kind), append(off, strings.ToLower(entry.Kind))
		}
	}
	assert.ElementsMatch(t, upstream, all)
	var values struct{ DisableControllers, DisableWebhooks []string }
	require.NoError(t, json.Unmarshal(deployment.Helm.Values.Raw, &values))
	assert.ElementsMatch(t, append(off, "healthcheck"), values.DisableControllers)
	assert.Equal(t, []string{"*"}, values.DisableWebhooks)

	block := markdown.Blocks(section(t, readPage(t, "docs", "operations", "install.md"), "## A landscape without upstream's extensions"), "console")[0].Text
	files, err := filepath.Glob(filepath.Join(root, "docs", "examples", "openstack", "*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		assert.Contains(t, block, "docs/examples/openstack/"+filepath.Base(file))
	}
	for _, entry := range catalogue.Primaries().Registrations {
		assert.Contains(t, block, entry.Name)
	}
}
