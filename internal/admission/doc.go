// Package admission judges in the garden cluster what users write there: it refuses what no controller could fulfil, at the moment it is
// typed, and fills in what a new shoot leaves open. What is right and wrong is said by pure functions in apis, which the controllers
// call as well; the rooms below say which object brings what to them: a room per provider type, and one for registrations.
//
// Four rules go for all of them:
//   - A mistake is refused with the path of its field and what to do about it. What could not be found out, because an API server did not
//     answer, is never called a mistake: the write is refused as an internal error that says to try again.
//   - What is being deleted passes, and so does every write that leaves alone what a room judges.
//   - A rule that is stricter than it was holds for what is new or changed: whoever lives with something goes on living with it.
//   - No cloud is asked: there is neither time nor permission for that here.
//
// The package must not know any cloud, contract or process. Handlers have no side effects, so that dry runs need no care.
package admission
