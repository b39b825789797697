package openstack

import (
	"strings"
	"unicode/utf8"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// manilaSecret is the data of the Secret in the shoot with the Manila driver's credentials, which are part of each request, from the Secret in the storage
// class, on nodes, too. So they are the user's credentials for Manila only; shoots that had Manila before these existed keep the infrastructure's.
//
// Values are not escaped: the driver reads them as they are, with the CA bundle. But they must be valid UTF-8.
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
