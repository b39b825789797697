package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/validation"
)

const (
	digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

	wrongRegistry = "begin with the address of the registry and a slash, like registry.example.org/charts/name"
	wrongName     = "the name after the registry has 2 to 255 lower-case letters and digits"
	wrongTag      = "a tag has at most 128 letters, digits, dots, dashes and underscores"
	wrongDigest   = "a digest is sha256: and 64 hexadecimal digits"
	noVersion     = "append a tag or a digest"
)

func refusedRepository(t *testing.T, fields string) field.ErrorList {
	t.Helper()
	return validation.ValidateControllerDeploymentConfig(decode(t, `"ociRepository":{`+fields+`}`), field.NewPath("c"))
}

func TestValidateOCIRepository(t *testing.T) {
	const ref, repository = `"ref":"registry.example.org/charts/name:1.0.0"`, `"repository":"registry.example.org/charts/name"`
	for sentence, test := range map[string]struct {
		fields string
		want   []string
	}{
		"ref":                        {ref, nil},
		"ref with a scheme":          {`"ref":"oci://registry.example.org/charts/name:1.0.0"`, nil},
		"repository and tag":         {repository + `,"tag":"1.0.0"`, nil},
		"repository and digest":      {repository + `,"digest":"sha256:` + digits + `"`, nil},
		"repository, tag and digest": {repository + `,"tag":"1.0.0","digest":"sha256:` + digits + `"`, nil},
		"repository with a scheme":   {`"repository":"oci://registry.example.org/charts/name","tag":"1.0.0"`, nil},
		"nothing":                    {``, []string{"c.ociRepository", "Required value: give ref, or repository with tag or digest"}},
		"nothing but an empty ref":   {`"ref":""`, []string{"c.ociRepository", "Required"}},
		"ref and repository":         {ref + `,` + repository, []string{"c.ociRepository.repository", "ref says everything: remove this field, or ref"}},
		"ref and tag":                {ref + `,"tag":"1"`, []string{"c.ociRepository.tag", "ref says everything"}},
		"ref and digest":             {ref + `,"digest":"sha256:` + digits + `"`, []string{"c.ociRepository.digest", "ref says everything"}},
		"everything, and that wrong": {
			`"ref":"name","repository":"b","tag":"-","digest":"d"`,
			[]string{
				"c.ociRepository.repository", "Forbidden", "c.ociRepository.tag", "Forbidden", "c.ociRepository.digest", "Forbidden",
				"c.ociRepository.ref", wrongRegistry,
			},
		},
		"a tag alone":                     {`"tag":"1.0.0"`, []string{"c.ociRepository.repository", "Required value: give the registry and the chart's name"}},
		"a digest alone":                  {`"digest":"sha256:` + digits + `"`, []string{"c.ociRepository.repository", "Required"}},
		"a repository alone":              {repository, []string{"c.ociRepository.tag", "Required value: give the tag of the chart, or its digest in the field digest"}},
		"a repository with a tag":         {`"repository":"registry.example.org/name:1","tag":"1"`, []string{"c.ociRepository.repository", "move tag and digest to the fields"}},
		"a repository with a digest":      {`"repository":"registry.example.org/name@sha256:` + digits + `","tag":"1"`, []string{"c.ociRepository.repository", "move tag and digest"}},
		"a repository without a registry": {`"repository":"charts/name","tag":"1"`, []string{"c.ociRepository.repository", wrongRegistry}},
		"a repository in upper case":      {`"repository":"registry.example.org/Name","tag":"1"`, []string{"c.ociRepository.repository", wrongName}},
		"a tag with a plus":               {repository + `,"tag":"1.0.0+dev"`, []string{"c.ociRepository.tag", wrongTag}},
		"a digest without algorithm":      {repository + `,"digest":"` + digits + `"`, []string{"c.ociRepository.digest", wrongDigest}},
		"a digest of another algorithm":   {repository + `,"digest":"sha512:` + digits + digits + `"`, []string{"c.ociRepository.digest", wrongDigest}},
		"a short digest":                  {repository + `,"digest":"sha256:` + digits[1:] + `"`, []string{"c.ociRepository.digest", wrongDigest}},
		"a long digest":                   {repository + `,"digest":"sha256:` + digits + `0"`, []string{"c.ociRepository.digest", wrongDigest}},
		"a digest in upper case":          {repository + `,"digest":"sha256:` + strings.ToUpper(digits) + `"`, []string{"c.ociRepository.digest", wrongDigest}},
		"a digest beside a wrong tag":     {repository + `,"tag":".","digest":"sha256:` + digits + `"`, []string{"c.ociRepository.tag", wrongTag}},
		"Secrets":                         {ref + `,"pullSecretRef":{"name":"a.b-c"},"caBundleSecretRef":{"name":"d"}`, nil},
		"Secrets without names": {
			ref + `,"pullSecretRef":{},"caBundleSecretRef":{"name":""}`,
			[]string{
				"c.ociRepository.pullSecretRef.name", "Required value: give the name of the Secret, or remove the reference",
				"c.ociRepository.caBundleSecretRef.name", "Required",
			},
		},
		"Secrets with bad names": {
			ref + `,"pullSecretRef":{"name":"garden/a"},"caBundleSecretRef":{"name":"A_B"}`,
			[]string{
				"c.ociRepository.pullSecretRef.name", `"garden/a": no Secret can have this name`,
				"c.ociRepository.caBundleSecretRef.name", `"A_B": no Secret`,
			},
		},
		"Secrets of nothing": {`"pullSecretRef":{}`, []string{"c.ociRepository", "Required", "c.ociRepository.pullSecretRef.name", "Required"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, refusedRepository(t, test.fields))
		})
	}
}

func TestValidateOCIRepository_References(t *testing.T) {
	const registry = "registry.example.org"
	for ref, want := range map[string]string{
		registry + "/charts/name:1.0.0":                           "",
		registry + "/name:1.0.0_dev":                              "",
		registry + "/charts/name@sha256:" + digits:                "",
		registry + "/charts/name:1.0.0@sha256:" + digits:          "",
		registry + ":5000/name:latest":                            "",
		"oci://" + registry + ":5000/a__b/c.d/e-f/g---h:" + "V1":  "",
		"localhost/name:1":                                        "",
		"localhost:5000/name:1":                                   "",
		"registry:5000/name:1":                                    "",
		"192.0.2.1/name:1":                                        "",
		"192.0.2.1:5000/name:1":                                   "",
		"[2001:db8::1]/name:1":                                    "",
		"[2001:db8::1]:5000/name:1":                               "",
		"Registry.Example.Org/name:1":                             "",
		registry + "/" + strings.Repeat("a", 255) + ":1":          "",
		registry + "/" + strings.Repeat("a", 256) + ":1":          wrongName,
		registry + "/name:" + strings.Repeat("1", 128):            "",
		registry + "/name:" + strings.Repeat("1", 129):            wrongTag,
		registry + "/charts/name":                                 noVersion,
		registry + ":5000/name":                                   noVersion,
		registry + "/name:":                                       wrongTag,
		registry + "/name:1:2":                                    wrongName,
		registry + "/name:-1":                                     wrongTag,
		registry + "/name:1 ":                                     wrongTag,
		registry + "/name:@sha256:" + digits:                      wrongTag,
		registry + "/name@":                                       wrongDigest,
		registry + "/name@1.0.0":                                  wrongDigest,
		registry + "/name@sha256:" + digits[1:]:                   wrongDigest,
		registry + "/name@sha256:" + digits + "@sha256:" + digits: wrongDigest,
		registry + "/:1":                                          wrongRegistry,
		registry + "//name:1":                                     wrongName,
		registry + "/name/:1":                                     wrongName,
		registry + "/n:1":                                         wrongName,
		registry + "/charts/../name:1":                            wrongName,
		registry + "/charts/name_-a:1":                            wrongName,
		registry + "/Charts/name:1":                               wrongName,
		registry + "/a___b:1":                                     wrongName,
		registry + "/a..b:1":                                      wrongName,
		registry + ":1":                                           wrongRegistry,
		registry:                                                  wrongRegistry,
		"name:1":                                                  wrongRegistry,
		"charts/name:1":                                           wrongRegistry,
		"/name:1":                                                 wrongRegistry,
		"oci://":                                                  wrongRegistry,
		"oci://oci://" + registry + "/name:1":                     wrongRegistry,
		"https://" + registry + "/name:1":                         wrongRegistry,
		"user:password@" + registry + "/name:1":                   wrongRegistry,
		" " + registry + "/name:1":                                wrongRegistry,
		"registry_1.example.org/name:1":                           wrongRegistry,
		registry + ":0/name:1":                                    wrongRegistry,
		registry + ":65536/name:1":                                wrongRegistry,
		registry + ":http/name:1":                                 wrongRegistry,
		"192.0.2.1:0/name:1":                                      wrongRegistry,
		"2001:db8::1/name:1":                                      wrongRegistry,
		"[fe80::1%25eth0]/name:1":                                 wrongRegistry,
		"-.example.org/name:1":                                    wrongRegistry,
	} {
		t.Run(ref, func(t *testing.T) {
			errs := refusedRepository(t, `"ref":"`+ref+`"`)
			if want == "" {
				require.Empty(t, errs)
				return
			}
			requireErrors(t, []string{"c.ociRepository.ref", want}, errs)
		})
	}
}
