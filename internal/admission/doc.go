// Package admission validates in the garden cluster what users write there: it rejects what no controller could fulfil, and sets
// defaults of new shoots. The rules are pure functions in apis, which the controllers also call. The packages below pass the objects to
// them: one package per provider type, and one for registrations.
//
// Four rules apply to all of them:
//   - An invalid value is rejected with the path of its field and what to do about it. A failed read from an API server is never reported as
//     an invalid value: the write is rejected with an internal error that asks to try again.
//   - Objects that are being deleted are accepted, and so is every write that does not change what is validated.
//   - A stricter rule applies only to what is new or changed: existing values stay valid.
//   - No cloud is called: there is neither time nor permission for that.
//
// The package must not know any cloud, contract or process. Handlers have no side effects, so they need no special case
// for dry runs.
package admission
