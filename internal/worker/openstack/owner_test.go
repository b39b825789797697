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
		"our form":                                           {one, "5f0c9a52-3c1e-4f6b-0123abcd", "affinity", true, ""},
		"our form of another shoot":                          {one, "5f0c9a52-3c1e-4f6c-0123abcd", "affinity", false, ""},
		"our form with a longer hash":                        {one, "5f0c9a52-3c1e-4f6b-0123abcde", "affinity", false, ""},
		"whole UID":                                          {one, "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11", "affinity", false, ""},
		"our form with capital letters":                      {one, "5f0c9a52-3c1e-4f6b-0123ABCD", "affinity", false, ""},
		"older form, unambiguous":                            {one, "shoot--dev--one-cpu-aZ09aZ09aZ", "affinity", true, "cpu"},
		"older form with the policy's hash":                  {one, "shoot--dev--one-cpu-9eda7", "affinity", true, "cpu"},
		"older form with another policy's hash":              {one, "shoot--dev--one-cpu-9eda7", "soft-affinity", false, ""},
		"ambiguous: pool two-x of shoot one or x of one-two": {one, "shoot--dev--one-two-x-0123456789", "affinity", false, "two-x"},
		"ambiguous: pool x of shoot one-two or two-x of one": {two, "shoot--dev--one-two-x-0123456789", "affinity", false, "x"},
		"shoot with a longer name":                           {one, "shoot--dev--onetwo-x-0123456789", "affinity", false, ""},
		"technical ID in an old form":                        {"shoot-dev-one", "shoot-dev-one-x-0123456789", "affinity", false, "x"},
		"suffix too short":                                   {one, "shoot--dev--one-cpu-012345678", "affinity", false, ""},
		"suffix with other characters":                       {one, "shoot--dev--one-cpu-012345678_", "affinity", false, ""},
		"no pool":                                            {one, "shoot--dev--one-0123456789", "affinity", false, ""},
		"group of a user":                                    {one, "database", "affinity", false, ""},
		"technical ID only":                                  {one, one, "affinity", false, ""},
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
