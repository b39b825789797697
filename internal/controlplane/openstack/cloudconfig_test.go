package openstack

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane/gcfg"
	"github.com/trellis-garden/trellis/internal/golden"
)

func TestCloudControllerManagerConfig(t *testing.T) {
	for sentence, test := range ccmCases() {
		t.Run(sentence, func(t *testing.T) {
			in := newInputs()
			test.change(in)
			config, err := in.ccmConfig()
			require.NoError(t, err)
			require.Equal(t, ccmConfigName, config.Name)
			checkBundle(t, in, config.Files)
			checkGoldenText(t, filepath.Join("ccm", test.file+".conf"), config.Files[cloudConfigFile])

			again, err := in.ccmConfig()
			require.NoError(t, err)
			require.Equal(t, config, again, "the same inputs make the same Secret")
		})
	}
}

func TestCinderControllerConfig(t *testing.T) {
	for sentence, test := range map[string]configCase{
		"a user with a password":                                 {"password", combine()},
		"a password full of what has a meaning (D19)":            {"d19-nasty-password", password(nastyPassword)},
		"an application credential by name":                      {"application-credential-name", login(byName())},
		"all options, and a CA bundle":                           {"options", combine(blockStorage(true, 25), func(in *inputs) { in.credentials.CACert = caBundle })},
		"options that are off, beside some that are not its own": {"options-off", combine(blockStorage(false, 256), loadBalancerOptions)},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := newInputs()
			test.change(in)
			config, err := in.cinderConfig()
			require.NoError(t, err)
			require.Equal(t, cinderConfigName, config.Name)
			checkBundle(t, in, config.Files)
			checkGoldenText(t, filepath.Join("cinder", test.file+".conf"), config.Files[cloudConfigFile])
		})
	}
}

func TestCinderNodeFiles(t *testing.T) {
	for sentence, test := range map[string]configCase{
		"no options":           {"plain", combine()},
		"all options":          {"options", blockStorage(true, 25)},
		"options that are off": {"options-off", blockStorage(false, 1)},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := newInputs()
			test.change(in)
			in.credentials.CACert = caBundle
			files, err := in.cinderNodeFiles()
			require.NoError(t, err)
			require.Len(t, files, 1, "nodes neither log in nor ask whom to trust")
			for _, hidden := range []string{in.credentials.Username, in.credentials.Password, in.credentials.AuthURL, "[Global]"} {
				require.NotContains(t, string(files[cloudConfigFile]), hidden)
			}
			checkGoldenText(t, filepath.Join("node", test.file+".conf"), files[cloudConfigFile])
		})
	}
}

func TestManilaSecret(t *testing.T) {
	for sentence, test := range map[string]configCase{
		"a user with a password, and a password full of what has a meaning elsewhere": {"password", combine(password(nastyPassword), func(in *inputs) { in.credentials.CACert = caBundle })},
		"an application credential by ID":                                             {"application-credential-id", login(byID())},
		"an application credential by name, with the user and the user's domain":      {"application-credential-name", login(byName())},
		"a user in another domain than the project, and certificates nobody checks":   {"user-domain-name", combine(login(userElsewhere()), func(in *inputs) { in.credentials.Insecure = true })},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := newInputs()
			test.change(in)
			data, err := in.manilaSecret()
			require.NoError(t, err)
			texts := map[string]string{}
			for key, value := range data {
				require.NotEmpty(t, value, "the driver refuses %q when it is there and empty", key)
				texts[key] = string(value)
			}
			encoded, err := json.MarshalIndent(texts, "", "  ")
			require.NoError(t, err)
			checkGoldenText(t, filepath.Join("manila", test.file+".secret.json"), append(encoded, '\n'))
		})
	}
}

func TestManilaSecret_NoInfrastructureCredentials(t *testing.T) {
	in := newInputs()
	shares := byID()
	shares.AuthURL = "https://keystone.example.org:5000/v3"
	in.manilaCredentials = &shares
	data, err := in.manilaSecret()
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{
		"os-authURL": []byte("https://keystone.example.org:5000/v3"), "os-region": []byte("RegionOne"),
		"os-applicationCredentialID": []byte(shares.ApplicationCredentialID), "os-applicationCredentialSecret": []byte(nastySecret),
	}, data)
}

func TestConfigs_UnrepresentableCredentials(t *testing.T) {
	for sentence, test := range map[string]struct {
		change change
		origin string
	}{
		"a password with a carriage return (D19)": {password("a\r\n"), `"password" in the Secret with credentials`},
		"a secret with NUL (D19)": {func(in *inputs) {
			in.credentials = byID()
			in.credentials.ApplicationCredentialSecret = "a\x00"
		}, `"applicationCredentialSecret" in the Secret with credentials`},
		"a user's name that is no text (D19)": {func(in *inputs) { in.credentials.Username = "\xff" }, `"username" in the Secret with credentials`},
		"a region that is no text":            {func(in *inputs) { in.region = "\xff" }, `"region"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := newInputs()
			test.change(in)
			for name, write := range map[string]func() error{
				ccmConfigName:    func() error { _, err := in.ccmConfig(); return err },
				cinderConfigName: func() error { _, err := in.cinderConfig(); return err },
			} {
				err := write()
				require.ErrorContains(t, err, "writing "+name)
				require.ErrorContains(t, err, test.origin)
				require.ErrorContains(t, err, "use a text without")
				require.Equal(t, cloud.Configuration, cloud.KindOf(err))
			}
		})
	}

	t.Run("the Manila driver takes a carriage return, but no broken text", func(t *testing.T) {
		in := newInputs()
		in.credentials.Password = "a\r\n"
		_, err := in.manilaSecret()
		require.NoError(t, err)
		in.credentials.Password = "\xff"
		_, err = in.manilaSecret()
		require.ErrorContains(t, err, `"password" in the Secret with credentials holds bytes that are not UTF-8`)
		require.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
}

func TestCCMConfig_WithoutNodeSubnet(t *testing.T) {
	in := newInputs()
	in.infrastructure.Networks.Subnets = in.infrastructure.Networks.Subnets[:1]
	_, err := in.ccmConfig()
	require.ErrorContains(t, err, "spec.infrastructureProviderStatus names no subnet of purpose \"nodes\"")
	require.Equal(t, cloud.Unknown, cloud.KindOf(err), "it is transient, and no error of the user")
}

// TestINIFile_Quoting leaves a file full of texts that are hard to write, for the real reader to read.
func TestINIFile_Quoting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // the same texts every time
	alphabet := []rune("\"\\\n\t#;=[]{}' abnt0ß密😀\ufeff\ufffd\x01\x7f")
	text := func() string {
		runes := make([]rune, 1+random.IntN(12))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(runes)
	}
	file, want := &gcfg.File{}, map[string]map[string]string{}
	for len(want) < 300 {
		label, value := strings.ReplaceAll(text(), "\n", "!"), text()
		if want[label] != nil {
			continue
		}
		want[label] = map[string]string{"FloatingSubnet": value}
		file.Labeled("LoadBalancerClass", label)
		file.Set("floating-subnet", value)
	}
	data, err := file.Bytes()
	require.NoError(t, err)
	checkGoldenText(t, filepath.Join("ccm", "quoting.conf"), data)

	expected, err := json.MarshalIndent(map[string]any{"config": map[string]any{"LoadBalancerClass": want}}, "", "  ")
	require.NoError(t, err)
	checkGoldenText(t, filepath.Join("ccm", "quoting.json"), append(expected, '\n'))
}

// TestGoldenFiles_HaveExpectations finds files that no case writes any more, and such whose meaning nobody has
// written down for the real readers.
func TestGoldenFiles_HaveExpectations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "cloudconfig", "*", "*"))
	require.NoError(t, err)
	written := map[string]bool{}
	for _, file := range files {
		name, isConfig := strings.CutSuffix(strings.TrimSuffix(file, ".secret.json"), ".conf")
		if isConfig || strings.HasSuffix(file, ".secret.json") {
			written[name] = true
			require.FileExists(t, name+".json")
		}
	}
	for _, file := range files {
		if name, ok := strings.CutSuffix(file, ".json"); ok && !strings.HasSuffix(name, ".secret") {
			require.True(t, written[name], "%s says what is expected of nothing", file)
		}
	}
	for _, test := range ccmCases() {
		delete(written, filepath.Join("testdata", "cloudconfig", "ccm", test.file))
	}
	delete(written, filepath.Join("testdata", "cloudconfig", "ccm", "quoting"))
	for name := range written {
		require.NotContains(t, name, string(filepath.Separator)+"ccm"+string(filepath.Separator), "no case writes it")
	}
}

func checkBundle(t *testing.T, in *inputs, files map[string][]byte) {
	t.Helper()
	require.Equal(t, in.credentials.CACert, string(files[keystoneCAFile]))
	_, found := files[keystoneCAFile]
	require.Equal(t, in.credentials.CACert != "", found)
}

// checkGoldenText compares with a file in testdata/cloudconfig. Beside it is one that says what the real reader makes of it, written
// by hand.
func checkGoldenText(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", "cloudconfig", name), string(got))
}
