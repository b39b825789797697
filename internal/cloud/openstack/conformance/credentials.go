package conformance

import (
	"net/http"
	"time"

	"github.com/stretchr/testify/assert"
)

func applicationCredentials() []Behaviour {
	return []Behaviour{
		behaviour("an application credential opens its project by ID or by name, without a password", func(c *Case) {
			created := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			for _, content := range []Body{
				{"id": created.ID(), "secret": "s3cret"},
				{"name": "key", "secret": "s3cret", "user": Body{"id": c.Member.UserID}},
				{"name": "key", "secret": "s3cret", "user": Body{"name": c.Login.User, "domain": inDefault()}},
			} {
				token := c.requestToken(byMethod("application_credential", content, nil)).RequireStatus(http.StatusCreated)
				assert.Equal(c, c.Member.ProjectID, token.Text("project.id"))
				assert.Equal(c, c.Member.UserID, token.Text("user.id"))
				assert.Equal(c, "true", token.Text("application_credential.restricted"))
				assert.ElementsMatch(c, []string{"member", "reader", "load-balancer_member"}, calledOf(token.Objects("roles")))
			}
		}),
		behaviour("the secret of an application credential is told once", func(c *Case) {
			path := c.credentialsPath()
			created := c.Member.Post(Identity, path, Body{"application_credential": Body{
				"name": "key", "description": "words", "expires_at": "2099-01-01T00:00:00", "roles": []Body{{"name": "member"}},
			}}).RequireStatus(http.StatusCreated)
			c.DeleteAtCleanup(c.Member, Identity, path+"/"+created.ID())
			assert.Len(c, created.Text("secret"), 86)
			shown := c.Member.Get(Identity, path+"/"+created.ID()).RequireStatus(http.StatusOK)
			assert.NotContains(c, shown, "secret")
			assert.Equal(c, "2099-01-01T00:00:00.000000", shown.Text("expires_at"))
			listed := c.Member.Get(Identity, path+"?name=key").List("application_credentials")
			assert.Len(c, listed, 1)
			assert.Empty(c, c.Member.Get(Identity, path+"?name=lock").List("application_credentials"))

			token := c.requestToken(byMethod("application_credential", Body{"id": created.ID(), "secret": created.Text("secret")}, nil))
			assert.Equal(c, []string{"member"}, calledOf(token.RequireStatus(http.StatusCreated).Objects("roles")))
		}),
		behaviour("an application credential that is not there is not found by its ID, and any other error is a 401", func(c *Case) {
			created := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			login := func(content Body) *Response { return c.requestToken(byMethod("application_credential", content, nil)) }
			login(Body{"id": created.ID(), "secret": "wrong"}).AssertError(http.StatusUnauthorized, "Unauthorized")
			login(Body{"id": created.ID()}).AssertError(http.StatusUnauthorized, "Unauthorized")
			login(Body{"name": "lock", "secret": "s3cret", "user": Body{"id": c.Member.UserID}}).AssertError(http.StatusUnauthorized, "Unauthorized")
			login(Body{"name": "key", "secret": "s3cret", "user": Body{"id": c.OtherMember.UserID}}).AssertError(http.StatusUnauthorized, "Unauthorized")
			// Not 401: the error bears no word about the credential's being unknown to those who may not know.
			login(Body{"id": c.Member.UserID, "secret": "s3cret"}).AssertError(http.StatusNotFound, "Not Found").
				AssertMessage("Could not find Application Credential: %s.", c.Member.UserID)
			login(Body{"name": "key", "secret": "s3cret"}).AssertError(http.StatusBadRequest, "Bad Request").AssertMessage("Expecting to find user")
			login(Body{"name": "key", "secret": "s3cret", "user": Body{"name": c.Login.User}}).
				AssertError(http.StatusBadRequest, "Bad Request").AssertMessage("Expecting to find domain in user.")
			login(Body{}).AssertError(http.StatusBadRequest, "Bad Request").AssertMessage("Expecting to find name or ID")
		}),
		behaviour("an application credential is bound to its project, and may not name one", func(c *Case) {
			created := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			for _, scope := range []any{Body{"project": Body{"id": c.Member.ProjectID}}, "unscoped"} {
				c.requestToken(byMethod("application_credential", Body{"id": created.ID(), "secret": "s3cret"}, scope)).
					AssertError(http.StatusUnauthorized, "Unauthorized").AssertMessage("Application credentials cannot request a scope.")
			}
		}),
		behaviour("an application credential is refused with the reason", func(c *Case) {
			path := c.credentialsPath()
			c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			try := func(attributes Body) *Response {
				return c.Member.Post(Identity, path, Body{"application_credential": attributes})
			}
			try(Body{"name": "key"}).AssertError(http.StatusConflict, "Conflict").AssertMessage("Duplicate entry found with name key.")
			try(Body{"name": "old", "expires_at": "2020-01-01T00:00:00"}).AssertError(http.StatusBadRequest, "Bad Request")
			try(Body{"name": "odd", "expires_at": "soon"}).AssertError(http.StatusBadRequest, "Bad Request")
			try(Body{"name": "might", "roles": []Body{{"name": "admin"}}}).AssertError(http.StatusBadRequest, "Bad Request")
			try(Body{"name": "magic", "roles": []Body{{"name": "magician"}}}).AssertError(http.StatusNotFound, "Not Found")
			others := "/v3/users/" + c.OtherMember.UserID + "/application_credentials"
			c.Member.Post(Identity, others, Body{"application_credential": Body{"name": "theirs"}}).AssertError(http.StatusForbidden, "Forbidden")
			c.Member.Get(Identity, others).AssertError(http.StatusForbidden, "Forbidden")
			c.Member.Delete(Identity, path+"/"+c.Member.ProjectID).AssertError(http.StatusNotFound, "Not Found")
		}),
	}
}

func credentialLifecycle() []Behaviour {
	return []Behaviour{
		behaviour("an application credential manages no others and buys no tokens, unless it is unrestricted", func(c *Case) {
			path := c.credentialsPath()
			created := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			restricted := c.byCredential(created.ID(), "s3cret")
			restricted.Get(Identity, path).List("application_credentials")
			for _, refused := range []*Response{
				restricted.Post(Identity, path, Body{"application_credential": Body{"name": "more"}}),
				restricted.Delete(Identity, path+"/"+created.ID()),
				c.requestToken(byMethod("token", Body{"id": restricted.token}, Body{"project": Body{"id": c.Member.ProjectID}})),
			} {
				refused.AssertError(http.StatusForbidden, "Forbidden")
			}
			created = c.Credential(c.Member, Body{"name": "master key", "secret": "s3cret", "unrestricted": true})
			more := c.byCredential(created.ID(), "s3cret").Post(Identity, path, Body{"application_credential": Body{"name": "more", "secret": "m0re"}}).
				RequireStatus(http.StatusCreated)
			c.DeleteAtCleanup(c.Member, Identity, path+"/"+more.ID())
		}),
		behaviour("an application credential ends at its time, and its tokens with it", func(c *Case) {
			const form = "2006-01-02T15:04:05"
			end := time.Now().UTC().Add(4 * time.Second).Truncate(time.Second)
			created := c.Credential(c.Member, Body{"name": "fruit fly", "secret": "s3cret", "expires_at": end.Format(form)})
			body := byMethod("application_credential", Body{"id": created.ID(), "secret": "s3cret"}, nil)
			response := c.requestToken(body)
			// Without a zone, as nowhere else in Keystone's tokens.
			assert.Equal(c, end.Format(form), response.RequireStatus(http.StatusCreated).Text("expires_at"))
			caller := c.withToken(issuedToken(response))
			c.WaitUntil("the credential has expired", func() bool { return time.Now().After(end.Add(time.Second)) })
			c.requestToken(body).AssertError(http.StatusUnauthorized, "Unauthorized")
			c.assertTokenRejected(caller)
		}),
		behaviour("an application credential that is deleted takes its tokens along", func(c *Case) {
			path := c.credentialsPath()
			created := c.Credential(c.Member, Body{"name": "key", "secret": "s3cret"})
			caller := c.byCredential(created.ID(), "s3cret")
			c.Member.Delete(Identity, path+"/"+created.ID()).RequireStatus(http.StatusNoContent)
			c.Member.Delete(Identity, path+"/"+created.ID()).AssertError(http.StatusNotFound, "Not Found")
			c.Member.Get(Identity, path+"/"+created.ID()).AssertError(http.StatusNotFound, "Not Found")
			c.requestToken(byMethod("application_credential", Body{"id": created.ID(), "secret": "s3cret"}, nil)).
				AssertError(http.StatusNotFound, "Not Found")
			for _, at := range c.requestsToAllServices()[1:] {
				assert.Equal(c, http.StatusUnauthorized, caller.Get(at.service, at.path).Status, at.service)
			}
			// Keystone itself, however, speaks of the credential.
			caller.Get(Identity, "/v3/auth/projects").AssertError(http.StatusNotFound, "Not Found").AssertMessage("Could not find Application Credential: ")
		}),
		behaviour("an application credential survives a new password, and rests while its user or project does", func(c *Case) {
			account := c.Account()
			created := c.credentialOf(account)
			body := byMethod("application_credential", Body{"id": created.ID(), "secret": "s3cret"}, nil)
			user, project := "/v3/users/"+account.UserID, "/v3/projects/"+account.ProjectID
			c.Operator.Patch(Identity, user, Body{"user": Body{"password": "second"}}).RequireStatus(http.StatusOK)
			c.requestToken(body).RequireStatus(http.StatusCreated)
			c.Operator.Patch(Identity, user, Body{"user": Body{"enabled": false}}).RequireStatus(http.StatusOK)
			c.requestToken(body).AssertError(http.StatusUnauthorized, "Unauthorized")
			c.Operator.Patch(Identity, user, Body{"user": Body{"enabled": true}}).RequireStatus(http.StatusOK)
			c.requestToken(body).RequireStatus(http.StatusCreated)
			c.Operator.Patch(Identity, project, Body{"project": Body{"enabled": false}}).RequireStatus(http.StatusOK)
			c.requestToken(body).AssertError(http.StatusNotFound, "Not Found")
			c.Operator.Patch(Identity, project, Body{"project": Body{"enabled": true}}).RequireStatus(http.StatusOK)
			c.requestToken(body).RequireStatus(http.StatusCreated)
			c.Operator.Delete(Identity, c.memberRole(account)).RequireStatus(http.StatusNoContent)
			c.requestToken(body).AssertError(http.StatusUnauthorized, "Unauthorized")
		}),
	}
}

// credentialsPath is where the member's application credentials are.
func (c *Case) credentialsPath() string {
	return "/v3/users/" + c.Member.UserID + "/application_credentials"
}

// Credential makes an application credential, quietly.
func (c *Case) Credential(caller *Caller, attributes Body) Object {
	c.Helper()
	return c.FixtureAs(caller, Identity, "/v3/users/"+caller.UserID+"/application_credentials", Body{"application_credential": attributes})
}

// credentialOf makes one for an account. It goes with the account, whose user cannot log in any more by then.
func (c *Case) credentialOf(account *Account) Object {
	c.Helper()
	var created Object
	c.WithoutRecording(func() {
		created = c.LogIn(account.Login).Post(Identity, "/v3/users/"+account.UserID+"/application_credentials",
			Body{"application_credential": Body{"name": "key", "secret": "s3cret"}}).RequireStatus(http.StatusCreated)
	})
	return created
}

// byCredential logs in with an application credential, quietly.
func (c *Case) byCredential(id, secret string) *Caller {
	c.Helper()
	var token string
	c.WithoutRecording(func() {
		response := c.requestToken(byMethod("application_credential", Body{"id": id, "secret": secret}, nil))
		response.RequireStatus(http.StatusCreated)
		token = issuedToken(response)
	})
	return c.withToken(token)
}
