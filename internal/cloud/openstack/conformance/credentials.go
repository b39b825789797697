package conformance

import (
	"net/http"
	"time"

	"github.com/stretchr/testify/assert"
)

func applicationCredentials() []Behaviour {
	return []Behaviour{
		behaviour("an application credential opens its project by ID or by name, without a password", func(c *Case) {
			made := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			for _, content := range []Body{
				{"id": made.ID(), "secret": "s3cret"},
				{"name": "key", "secret": "s3cret", "user": Body{"id": c.Member.UserID}},
				{"name": "key", "secret": "s3cret", "user": Body{"name": c.Login.User, "domain": inDefault()}},
			} {
				token := c.asksForToken(byMethod("application_credential", content, nil)).Succeeds(http.StatusCreated)
				assert.Equal(c, c.Member.ProjectID, token.Text("project.id"))
				assert.Equal(c, c.Member.UserID, token.Text("user.id"))
				assert.Equal(c, "true", token.Text("application_credential.restricted"))
				assert.ElementsMatch(c, []string{"member", "reader", "load-balancer_member"}, calledOf(token.Objects("roles")))
			}
		}),
		behaviour("the secret of an application credential is told once", func(c *Case) {
			path := c.credentialsPath()
			made := c.Member.Post(Identity, path, Body{"application_credential": Body{
				"name": "key", "description": "words", "expires_at": "2099-01-01T00:00:00", "roles": []Body{{"name": "member"}},
			}}).Succeeds(http.StatusCreated)
			c.Remove(c.Member, Identity, path+"/"+made.ID())
			assert.Len(c, made.Text("secret"), 86)
			shown := c.Member.Get(Identity, path+"/"+made.ID()).Succeeds(http.StatusOK)
			assert.NotContains(c, shown, "secret")
			assert.Equal(c, "2099-01-01T00:00:00.000000", shown.Text("expires_at"))
			listed := c.Member.Get(Identity, path+"?name=key").List("application_credentials")
			assert.Len(c, listed, 1)
			assert.Empty(c, c.Member.Get(Identity, path+"?name=lock").List("application_credentials"))

			token := c.asksForToken(byMethod("application_credential", Body{"id": made.ID(), "secret": made.Text("secret")}, nil))
			assert.Equal(c, []string{"member"}, calledOf(token.Succeeds(http.StatusCreated).Objects("roles")))
		}),
		behaviour("an application credential that is not there is not found by its ID, and any other mistake is a 401", func(c *Case) {
			made := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			login := func(content Body) *Answer { return c.asksForToken(byMethod("application_credential", content, nil)) }
			login(Body{"id": made.ID(), "secret": "wrong"}).Refused(http.StatusUnauthorized, "Unauthorized")
			login(Body{"id": made.ID()}).Refused(http.StatusUnauthorized, "Unauthorized")
			login(Body{"name": "lock", "secret": "s3cret", "user": Body{"id": c.Member.UserID}}).Refused(http.StatusUnauthorized, "Unauthorized")
			login(Body{"name": "key", "secret": "s3cret", "user": Body{"id": c.Stranger.UserID}}).Refused(http.StatusUnauthorized, "Unauthorized")
			// Not 401: the error bears no word about the credential's being unknown to those who may not know.
			login(Body{"id": c.Member.UserID, "secret": "s3cret"}).Refused(http.StatusNotFound, "Not Found").
				Saying("Could not find Application Credential: %s.", c.Member.UserID)
			login(Body{"name": "key", "secret": "s3cret"}).Refused(http.StatusBadRequest, "Bad Request").Saying("Expecting to find user")
			login(Body{"name": "key", "secret": "s3cret", "user": Body{"name": c.Login.User}}).
				Refused(http.StatusBadRequest, "Bad Request").Saying("Expecting to find domain in user.")
			login(Body{}).Refused(http.StatusBadRequest, "Bad Request").Saying("Expecting to find name or ID")
		}),
		behaviour("an application credential is bound to its project, and may not name one", func(c *Case) {
			made := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			for _, scope := range []any{Body{"project": Body{"id": c.Member.ProjectID}}, "unscoped"} {
				c.asksForToken(byMethod("application_credential", Body{"id": made.ID(), "secret": "s3cret"}, scope)).
					Refused(http.StatusUnauthorized, "Unauthorized").Saying("Application credentials cannot request a scope.")
			}
		}),
		behaviour("an application credential is refused with the reason", func(c *Case) {
			path := c.credentialsPath()
			c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			try := func(attributes Body) *Answer {
				return c.Member.Post(Identity, path, Body{"application_credential": attributes})
			}
			try(Body{"name": "key"}).Refused(http.StatusConflict, "Conflict").Saying("Duplicate entry found with name key.")
			try(Body{"name": "old", "expires_at": "2020-01-01T00:00:00"}).Refused(http.StatusBadRequest, "Bad Request")
			try(Body{"name": "odd", "expires_at": "soon"}).Refused(http.StatusBadRequest, "Bad Request")
			try(Body{"name": "might", "roles": []Body{{"name": "admin"}}}).Refused(http.StatusBadRequest, "Bad Request")
			try(Body{"name": "magic", "roles": []Body{{"name": "magician"}}}).Refused(http.StatusNotFound, "Not Found")
			others := "/v3/users/" + c.Stranger.UserID + "/application_credentials"
			c.Member.Post(Identity, others, Body{"application_credential": Body{"name": "theirs"}}).Refused(http.StatusForbidden, "Forbidden")
			c.Member.Get(Identity, others).Refused(http.StatusForbidden, "Forbidden")
			c.Member.Delete(Identity, path+"/"+c.Member.ProjectID).Refused(http.StatusNotFound, "Not Found")
		}),
	}
}

func livesOfCredentials() []Behaviour {
	return []Behaviour{
		behaviour("an application credential manages no others and buys no tokens, unless it is unrestricted", func(c *Case) {
			path := c.credentialsPath()
			made := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			restricted := c.byCredential(made.ID(), "s3cret")
			restricted.Get(Identity, path).List("application_credentials")
			for _, refused := range []*Answer{
				restricted.Post(Identity, path, Body{"application_credential": Body{"name": "more"}}),
				restricted.Delete(Identity, path+"/"+made.ID()),
				c.asksForToken(byMethod("token", Body{"id": restricted.token}, Body{"project": Body{"id": c.Member.ProjectID}})),
			} {
				refused.Refused(http.StatusForbidden, "Forbidden")
			}
			made = c.Credential(c.Member, Body{"name": "master key", "secret": "s3cret", "unrestricted": true})
			more := c.byCredential(made.ID(), "s3cret").Post(Identity, path, Body{"application_credential": Body{"name": "more", "secret": "m0re"}}).
				Succeeds(http.StatusCreated)
			c.Remove(c.Member, Identity, path+"/"+more.ID())
		}),
		behaviour("an application credential ends at its time, and its tokens with it", func(c *Case) {
			const form = "2006-01-02T15:04:05"
			end := time.Now().UTC().Add(4 * time.Second).Truncate(time.Second)
			made := c.Credential(c.Member, Body{"name": "fruit fly", "secret": "s3cret", "expires_at": end.Format(form)})
			body := byMethod("application_credential", Body{"id": made.ID(), "secret": "s3cret"}, nil)
			answer := c.asksForToken(body)
			// Without a zone, as nowhere else in Keystone's tokens.
			assert.Equal(c, end.Format(form), answer.Succeeds(http.StatusCreated).Text("expires_at"))
			caller := c.bearing(issued(answer))
			c.Until("the credential has expired", func() bool { return time.Now().After(end.Add(time.Second)) })
			c.asksForToken(body).Refused(http.StatusUnauthorized, "Unauthorized")
			c.isRefused(caller)
		}),
		behaviour("an application credential that is deleted takes its tokens along", func(c *Case) {
			path := c.credentialsPath()
			made := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			caller := c.byCredential(made.ID(), "s3cret")
			c.Member.Delete(Identity, path+"/"+made.ID()).Succeeds(http.StatusNoContent)
			c.Member.Delete(Identity, path+"/"+made.ID()).Refused(http.StatusNotFound, "Not Found")
			c.Member.Get(Identity, path+"/"+made.ID()).Refused(http.StatusNotFound, "Not Found")
			c.asksForToken(byMethod("application_credential", Body{"id": made.ID(), "secret": "s3cret"}, nil)).
				Refused(http.StatusNotFound, "Not Found")
			for _, at := range c.everywhere()[1:] {
				assert.Equal(c, http.StatusUnauthorized, caller.Get(at.service, at.path).Status, at.service)
			}
			// Keystone itself, however, speaks of the credential.
			caller.Get(Identity, "/v3/auth/projects").Refused(http.StatusNotFound, "Not Found").Saying("Could not find Application Credential: ")
		}),
		behaviour("an application credential survives a new password, and rests while its user or project does", func(c *Case) {
			account := c.Account()
			made := c.credentialOf(account)
			body := byMethod("application_credential", Body{"id": made.ID(), "secret": "s3cret"}, nil)
			user, project := "/v3/users/"+account.UserID, "/v3/projects/"+account.ProjectID
			c.Operator.Patch(Identity, user, Body{"user": Body{"password": "second"}}).Succeeds(http.StatusOK)
			c.asksForToken(body).Succeeds(http.StatusCreated)
			c.Operator.Patch(Identity, user, Body{"user": Body{"enabled": false}}).Succeeds(http.StatusOK)
			c.asksForToken(body).Refused(http.StatusUnauthorized, "Unauthorized")
			c.Operator.Patch(Identity, user, Body{"user": Body{"enabled": true}}).Succeeds(http.StatusOK)
			c.asksForToken(body).Succeeds(http.StatusCreated)
			c.Operator.Patch(Identity, project, Body{"project": Body{"enabled": false}}).Succeeds(http.StatusOK)
			c.asksForToken(body).Refused(http.StatusNotFound, "Not Found")
			c.Operator.Patch(Identity, project, Body{"project": Body{"enabled": true}}).Succeeds(http.StatusOK)
			c.asksForToken(body).Succeeds(http.StatusCreated)
			c.Operator.Delete(Identity, c.memberRole(account)).Succeeds(http.StatusNoContent)
			c.asksForToken(body).Refused(http.StatusUnauthorized, "Unauthorized")
		}),
	}
}

// credentialsPath is where the member's application credentials are.
func (c *Case) credentialsPath() string {
	return "/v3/users/" + c.Member.UserID + "/application_credentials"
}

// Credential makes an application credential, quietly.
func (c *Case) Credential(who *Caller, attributes Body) Object {
	c.Helper()
	return c.GivenBy(who, Identity, "/v3/users/"+who.UserID+"/application_credentials", Body{"application_credential": attributes})
}

// credentialOf makes one for an account. It goes with the account, whose user cannot log in any more by then.
func (c *Case) credentialOf(account *Account) Object {
	c.Helper()
	var made Object
	c.Quietly(func() {
		made = c.LogIn(account.Login).Post(Identity, "/v3/users/"+account.UserID+"/application_credentials",
			Body{"application_credential": Body{"name": "key", "secret": "s3cret"}}).Succeeds(http.StatusCreated)
	})
	return made
}

// byCredential logs in with an application credential, quietly.
func (c *Case) byCredential(id, secret string) *Caller {
	c.Helper()
	var token string
	c.Quietly(func() {
		answer := c.asksForToken(byMethod("application_credential", Body{"id": id, "secret": secret}, nil))
		answer.Succeeds(http.StatusCreated)
		token = issued(answer)
	})
	return c.bearing(token)
}
