// Package agreement finds out whether all members of a team mean the same call.
//
// Members describe calls to each other by notes, which lie in the control segments of all
// members, at places that a Layout gives. An Agreement compares the notes of one call before the
// first run of its plan. A Mailbox compares the calls that members have made last, when one of
// them has waited in vain, and tells all members which two calls differ.
//
// It knows neither plans nor schedules, and does not decide what a difference means for a team.
// Package collectives calls it.
package agreement
