package openstack

import (
	"strings"
	"unicode/utf8"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// manilaSecret is the data of the Secret in the shoot that the Manila driver logs in with. It takes credentials from nowhere
// else: they come with every request, from the Secret that the storage class names, on nodes too. So they are those that the
// user gave for Manila alone; only shoots that had Manila before there was such a thing keep the infrastructure's.
//
// Nothing is escaped: the driver reads the values as they are, and the CA bundle from among them. But they travel as texts.
func (in *inputs) manilaSecret() (map[string][]byte, error) {
	credentials := in.credentials
	if in.manilaCredentials != nil {
		credentials = *in.manilaCredentials
	}
	facts := loginFacts(credentials, in.region)
	facts = append(facts, loginFact{"", "os-certAuthority", "caCert", credentials.CACert})

	data := map[string][]byte{}
	var problems []string
	for _, fact := range facts {
		if fact.value == "" {
			continue
		}
		if !utf8.ValidString(fact.value) {
			problems = append(problems, fact.where()+" holds bytes that are not UTF-8, which the Manila driver cannot be given: use a text without")
		}
		data[fact.inSecret] = []byte(fact.value)
	}
	if len(problems) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "%s", strings.Join(problems, "; "))
	}
	return data, nil
}
