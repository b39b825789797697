package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestOwner_Names(t *testing.T) {
	o := owner{technicalID: technicalID, uids: []string{"5f0c9a52-3c1e-4f6b", "00000000-1111-2222"}}
	// printf 'pool=cpu,policy=soft-anti-affinity' | sha256sum
	assert.Equal(t, []string{"5f0c9a52-3c1e-4f6b-632bc346", "00000000-1111-2222-632bc346"}, o.names(groupWant{"cpu", "soft-anti-affinity"}))
}

// printf policy=affinity | sha256sum begins with 9eda7.
func TestOwner_IsOwn(t *testing.T) {
	const one, two = "shoot--dev--one", "shoot--dev--one-two"
	for sentence, tc := range map[string]struct {
		technicalID, name, policy string
		own                       bool
		pool                      string
	}{
		"our form":                                  {one, "5f0c9a52-3c1e-4f6b-0123abcd", "affinity", true, ""},
		"our form of another shoot":                 {one, "5f0c9a52-3c1e-4f6c-0123abcd", "affinity", false, ""},
		"our form with more behind it":              {one, "5f0c9a52-3c1e-4f6b-0123abcde", "affinity", false, ""},
		"a whole UID":                               {one, "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11", "affinity", false, ""},
		"our form with capitals":                    {one, "5f0c9a52-3c1e-4f6b-0123ABCD", "affinity", false, ""},
		"the older form, read in one way only":      {one, "shoot--dev--one-cpu-aZ09aZ09aZ", "affinity", true, "cpu"},
		"the older form with a hash":                {one, "shoot--dev--one-cpu-9eda7", "affinity", true, "cpu"},
		"the older form with another policy's":      {one, "shoot--dev--one-cpu-9eda7", "soft-affinity", false, ""},
		"pool two-x of one, or pool x of one-two":   {one, "shoot--dev--one-two-x-0123456789", "affinity", false, "two-x"},
		"pool x of one-two, or pool two-x of one":   {two, "shoot--dev--one-two-x-0123456789", "affinity", false, "x"},
		"D8: a group of a shoot with a longer name": {one, "shoot--dev--onetwo-x-0123456789", "affinity", false, ""},
		"a technical ID of an old form":             {"shoot-dev-one", "shoot-dev-one-x-0123456789", "affinity", false, "x"},
		"a suffix that is too short":                {one, "shoot--dev--one-cpu-012345678", "affinity", false, ""},
		"a suffix with other characters":            {one, "shoot--dev--one-cpu-012345678_", "affinity", false, ""},
		"no pool":                                   {one, "shoot--dev--one-0123456789", "affinity", false, ""},
		"something of the user's":                   {one, "database", "affinity", false, ""},
		"the technical ID":                          {one, one, "affinity", false, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := owner{technicalID: tc.technicalID, uids: []string{"5f0c9a52-3c1e-4f6b"}}
			group := cloudopenstack.ServerGroup{Name: tc.name, Policy: tc.policy}
			assert.Equal(t, tc.own, o.isOwn(group))
			pool, isParsed := o.poolFromName(group)
			if isParsed {
				assert.Equal(t, tc.pool, pool)
			} else {
				assert.Empty(t, tc.pool)
			}
		})
	}
}

func TestOwnerOf_UIDs(t *testing.T) {
	env := newEnvironment(t)
	assert.Equal(t, []string{"5f0c9a52-3c1e-4f6b"}, ownerOf(env.shootInput()).uids)
	env.shoot.UID = types.UID("99999999-9999-4999-9999-999999999999")
	assert.Equal(t, []string{"99999999-9999-4999", "5f0c9a52-3c1e-4f6b"}, ownerOf(env.shootInput()).uids, "the garden cluster was restored")
	env.shoot.UID = ""
	assert.Equal(t, []string{"5f0c9a52-3c1e-4f6b"}, ownerOf(env.shootInput()).uids)
}
