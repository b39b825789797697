package docs

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/charts"
)

// TestMain is the stand-in for helm where this program is called so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "helm" {
		os.Exit(m.Run())
	}
	if err := helm(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// helm does what pages need of Helm: it looks for an archive that is to be pushed, and renders an archive that is to be installed, with its values.
// What is rendered is only printed.
func helm(args []string) error {
	flags := flag.NewFlagSet("helm", flag.ContinueOnError)
	install, createNamespace := flags.Bool("install", false, ""), flags.Bool("create-namespace", false, "")
	kubeconfig, namespace, values := flags.String("kubeconfig", "", ""), flags.String("namespace", "", ""), flags.String("values", "", "")
	var words []string
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return err
		}
		if args = flags.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	switch {
	case len(words) == 3 && words[0] == "push" && strings.HasPrefix(words[2], "oci://"):
		_, err := os.Stat(words[1])
		return err
	case len(words) != 3 || words[0] != "upgrade" || !*install:
		return fmt.Errorf("the stand-in knows push ARCHIVE oci://REPOSITORY and upgrade --install NAME ARCHIVE, not %q", words)
	}
	if *createNamespace {
		create := exec.Command("kubectl", "--kubeconfig", *kubeconfig, "create", "namespace", *namespace)
		if output, err := create.CombinedOutput(); err != nil {
			return fmt.Errorf("creating the namespace: %w: %s", err, output)
		}
	}
	return renderChart(words[2], charts.Release{Name: words[1], Namespace: *namespace}, *values)
}

func renderChart(path string, release charts.Release, valuesFile string) error {
	archive, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(valuesFile)
	if err != nil {
		return err
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict(content, &values); err != nil {
		return fmt.Errorf("reading %s: %w", valuesFile, err)
	}
	objects, err := charts.Render(archive, release, values)
	if err == nil && len(objects) == 0 {
		err = errors.New("the chart renders nothing")
	}
	for _, object := range objects {
		fmt.Println(object.GetKind(), object.GetName())
	}
	return err
}

func TestHelm(t *testing.T) {
	dir := t.TempDir()
	archive, err := charts.Archive("worker-controller", "v0.1.0")
	require.NoError(t, err)
	chart, good, bad := filepath.Join(dir, "chart.tgz"), filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(chart, archive, 0o600))
	require.NoError(t, os.WriteFile(good, []byte("types: [openstack]"), 0o600))
	require.NoError(t, os.WriteFile(bad, []byte("type: openstack"), 0o600))
	for sentence, c := range map[string]struct {
		args []string
		want string
	}{
		"a chart and its values":  {[]string{"upgrade", "--install", "worker", chart, "--namespace", "x", "--values", good}, ""},
		"unknown values":          {[]string{"upgrade", "--install", "worker", chart, "--values", bad}, "type"},
		"another chart":           {[]string{"upgrade", "--install", "worker", chart + ".old", "--values", good}, "no such file"},
		"a push":                  {[]string{"push", chart, "oci://registry.example.org/charts"}, ""},
		"a push to something":     {[]string{"push", chart, "registry.example.org/charts"}, "the stand-in knows"},
		"a flag that is not used": {[]string{"upgrade", "--instal", "worker"}, "not defined"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := helm(c.args)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}
