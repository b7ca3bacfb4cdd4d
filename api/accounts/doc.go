// Package accounts is the HTTP face of auth: Supabase's accounts API.
//
// What may be asked, by whom, and the test that proves it. U needs a user's token, A the service key; the others need
// neither. Bodies and answers are those of Supabase's accounts server.
//
//	endpoint                                             test
//	GET    /health                                       TestWhatEverybodyMayKnow
//	GET    /settings                                     TestWhatEverybodyMayKnow TestTheSettingsShowWhichProvidersThereAre
//	GET    /.well-known/jwks.json                        TestWhatIsDiscovered
//	GET    /.well-known/openid-configuration             TestWhatIsDiscovered
//	GET    /.well-known/oauth-authorization-server       TestWhatIsDiscovered
//	POST   /signup                                       TestSignUpGivesASession TestSignUpThatNeedsConfirmation TestAnAccountByTelephone TestAnonymousAccountsBecomeLastingOnes
//	POST   /token                                        TestPasswordGrantRefuses TestRefreshKeepsTheSession TestALinkEndsInACodeForTheAppThatAskedForIt TestAnIDTokenGivesASession
//	POST   /logout                                    U  TestLogoutEndsWhatItsScopeNames TestLogoutSmallPrint
//	GET    /user                                      U  TestOnlyLivingTokensOfUsersReadTheUser
//	PUT    /user                                      U  TestUserChangesTheirPassword TestUserChangesTheirMetadata TestBothAddressesConfirmAChange
//	GET    /user/sessions                             U  TestUsersSeeAndEndTheirSessions
//	DELETE /user/sessions/:session                    U  TestUsersSeeAndEndTheirSessions
//	POST   /otp                                          TestACodeMakesAnAccountAndLetsItsUserInOnce
//	POST   /magiclink                                    TestACodeMakesAnAccountAndLetsItsUserInOnce
//	POST   /recover                                      TestARecoveredPasswordMakesAllOtherTokensVoid
//	POST   /resend                                       TestResend
//	POST   /verify                                       TestTokensEnd TestVerifyRefusesWhatItCannotRead TestATokenIsUsedOnceByManyAtTheSameMoment TestAPageAsksBeforeALinkIsUsedUp
//	GET    /verify                                       TestSignUpIsConfirmedByItsLink TestALinkEndsInACodeForTheAppThatAskedForIt
//	HEAD   /verify                                       TestLookingAtALinkDoesNotUseItUp
//	GET    /reauthenticate                            U  TestANonceLetsAnOldSessionChangeItsPassword
//	POST   /invite                                    A  TestInvitation
//	POST   /admin/generate_link                       A  TestGeneratedLinks
//	GET    /authorize                                    TestAUserOfAProviderIsLedBackWithASession TestASignInThatCannotBeginIsRefused
//	GET    /callback                                     TestAUserOfAProviderIsLedBackWithACodeForTheApp TestAStateIsGoodOnceAndInItsBrowser
//	POST   /callback                                     TestARefusalOfTheProviderReachesTheApp
//	GET    /user/identities/authorize                 U  TestAUserAddsAndRemovesIdentities
//	DELETE /user/identities/:id                       U  TestAUserAddsAndRemovesIdentities TestOfTwoLastIdentitiesOneStays
//	POST   /factors                                   U  TestATOTPFactorIsEnrolledProvedAndRemoved TestAnAuthenticatorIsASecondFactor TestAPhoneIsProvedByTheCodeThatWasSentToIt
//	POST   /factors/:factor_id/challenge              U  TestAChallengeHasItsEndAndItsPlace
//	POST   /factors/:factor_id/verify                 U  TestACodeIsAcceptedOnce TestGuessesAtAFactorComeToAnEnd
//	DELETE /factors/:factor_id                        U  TestTheLastFactorIsRemovedOnce
//	GET    /factors/recovery-codes                    U  TestRecoveryCodesStandInForAFactorEachOnce
//	POST   /factors/recovery-codes                    U  TestRecoveryCodesStandInForAFactorEachOnce
//	DELETE /factors/recovery-codes                    U  TestRecoveryCodesStandInForAFactorEachOnce
//	POST   /factors/recovery-codes/regenerate         U  TestRecoveryCodesThatAreMadeAtOnceAreOneSet
//	POST   /factors/recovery-codes/verify             U  TestOneRecoveryCodeIsGoodForOneOfMany
//	POST   /passkeys/authentication/options              TestAPasskeyIsTheOnlyCredential
//	POST   /passkeys/authentication/verify               TestAPasskeyIsTheOnlyCredential TestAClonedAuthenticatorIsRefused
//	POST   /passkeys/registration/options             U  TestPasskeysHaveABound
//	POST   /passkeys/registration/verify              U  TestAChallengeIsGoodOnce
//	GET    /passkeys                                  U  TestAPasskeyIsTheOnlyCredential
//	PATCH  /passkeys/:passkey                         U  TestAPasskeyIsTheOnlyCredential
//	DELETE /passkeys/:passkey                         U  TestAPasskeyIsTheOnlyCredential
//	POST   /sso                                          TestAnOrganisationSignsItsUsersIn
//	GET    /sso/saml/metadata                            TestTheServiceProviderIsDescribed
//	POST   /sso/saml/acs                                 TestAnAnswerOfAnIdentityProviderIsChecked TestAnAssertionIsGoodOnce
//	GET    /oauth/authorize                              TestAThirdPartySignsUsersIn TestNobodyIsLedWhereTheClientHasNotRegistered
//	POST   /oauth/authorize                              TestAThirdPartySignsUsersIn
//	POST   /oauth/token                                  TestEachConditionOfAnExchangeRefusesAlone TestRefreshesOfAClient
//	GET    /oauth/userinfo                            U  TestAThirdPartySignsUsersIn
//	POST   /oauth/userinfo                            U  TestAThirdPartySignsUsersIn
//	POST   /oauth/clients/register                       TestClientsRegisterThemselvesWhereThatIsAllowed
//	GET    /oauth/authorizations/:authorization       U  TestAUserDecidesOnce
//	POST   /oauth/authorizations/:authorization/consent  U  TestAUserDecidesOnce
//	GET    /user/oauth/grants                         U  TestAThirdPartySignsUsersIn
//	DELETE /user/oauth/grants                         U  TestAThirdPartySignsUsersIn
//	GET    /admin/users                               A  TestAdminListsUsersPageByPage
//	POST   /admin/users                               A  TestAdminCreatesUsers
//	GET    /admin/users/:id                           A  TestAdminChangesUsers
//	PUT    /admin/users/:id                           A  TestAdminChangesUsers TestBansAndDeletionsHoldAtOnce
//	DELETE /admin/users/:id                           A  TestSoftlyDeletedUsersLeaveABareRow
//	GET    /admin/users/:id/factors                   A  TestAdministratorsSeeRenameAndRemoveFactors
//	PUT    /admin/users/:id/factors/:factor_id        A  TestAdministratorsSeeRenameAndRemoveFactors
//	DELETE /admin/users/:id/factors/:factor_id        A  TestAdministratorsSeeRenameAndRemoveFactors
//	GET    /admin/users/:id/passkeys                  A  TestTheServiceKeyManagesPasskeys
//	DELETE /admin/users/:id/passkeys/:passkey         A  TestTheServiceKeyManagesPasskeys
//	GET    /admin/users/:id/sessions                  A  TestAdministratorsSeeAndEndSessions
//	DELETE /admin/users/:id/sessions                  A  TestAdministratorsSeeAndEndSessions
//	DELETE /admin/users/:id/sessions/:session         A  TestAdministratorsSeeAndEndSessions
//	GET    /admin/audit                               A  TestTheAuditLogIsSearched
//	GET    /admin/custom-providers                    A  TestAnAdministratorAddsAProvider
//	POST   /admin/custom-providers                    A  TestAnAdministratorAddsAProvider TestACustomProviderThatCannotWorkIsRefused
//	GET    /admin/custom-providers/:identifier        A  TestAnAdministratorAddsAProvider
//	PUT    /admin/custom-providers/:identifier        A  TestAnAdministratorAddsAProvider
//	DELETE /admin/custom-providers/:identifier        A  TestAnAdministratorAddsAProvider
//	GET    /admin/sso/providers                       A  TestIdentityProvidersAreAdministered
//	POST   /admin/sso/providers                       A  TestIdentityProvidersAreAdministered
//	GET    /admin/sso/providers/:provider             A  TestIdentityProvidersAreAdministered
//	PUT    /admin/sso/providers/:provider             A  TestIdentityProvidersAreAdministered
//	DELETE /admin/sso/providers/:provider             A  TestIdentityProvidersAreAdministered
//	GET    /admin/oauth/clients                       A  TestAdministratorsKeepClients
//	POST   /admin/oauth/clients                       A  TestAdministratorsKeepClients
//	GET    /admin/oauth/clients/:client               A  TestAdministratorsKeepClients
//	PUT    /admin/oauth/clients/:client               A  TestAdministratorsKeepClients
//	DELETE /admin/oauth/clients/:client               A  TestAdministratorsKeepClients
//	POST   /admin/oauth/clients/:client/regenerate_secret  A  TestAdministratorsKeepClients
//
// The unmodified client library walks every public method that it exports in testdata/sdk: methods.mjs says which test
// file walks which, each file looks that it has, and auth.test.mjs that none is left out. Web3 sign-in, which is not
// offered, is the only exception.
//
// # Differences from Supabase's server
//
// Tokens and sessions:
//
//   - Refresh tokens, links and codes are stored as hashes, second factors' secrets and provider tokens sealed. What a
//     dump has in clear is taken, and renewed at its first use.
//   - A hook that is a server signs off tokens behind the transaction that wrote their session; one that refuses ends it.
//   - Tokens of OAuth clients read the user and end their own session, whatever the scope; other endpoints of users refuse them (insufficient_scope).
//   - Accounts whose role is the service key's cannot let OAuth clients in.
//   - PKCE takes S256 only, unless --pkce-plain. The second use of a code ends the session that the first one gave.
//   - --strict-sessions lets the REST API refuse tokens of ended sessions too; there, a token is otherwise good until it expires.
//
// Links and codes:
//
//   - Codes are good for ten minutes, links for an hour, each by a setting of its own.
//   - Answers for an address do the same work whether or not it has an account, and leave at a time that chance spreads.
//   - On an account that was never confirmed a sign-in or recovery by mail, an invitation, and a sign-up with another
//     password drop what it was made with: its password, and identities whose server does not vouch for the address.
//   - A new password and the first second factor give up changes of address that wait, and codes and linkings that
//     sessions have begun; the end of a session ends the account's linkings and codes of OAuth clients. Linkings, and
//     decisions about OAuth clients, are finished by a living session alone.
//   - HEAD and prefetching do not use a link up; with --mail-confirm-page a page with a button stands before it.
//   - X-Forwarded-Host and Referer never form links; a Referer is followed only to where the allow list leads.
//   - Mails and texts go through a queue, hooks that send included: their failures are retried and logged, not answered.
//
// Other servers:
//
//   - Identities join an account by an address that both sides have verified; whoever held it without proof is evicted.
//     A provider vouches for an address as it writes it there, and not for one that is folded to the same spelling here.
//   - Accounts of single sign-on gain no identities of other servers.
//   - Microsoft's addresses count where the token says that their domain is verified (xms_edov).
//   - With PKCE an identity is linked when the app brings the code, so that nobody links theirs to another's account.
//   - An ID token that is refused has a code of its own (validation_failed), where Supabase's answer has none.
//   - Removing the identity of an address removes the password with it.
//   - Users of single sign-on link no identities of other servers.
//   - One that gives no answer is a 502 that says what is wrong with it, without an address.
//   - SAML takes signed assertions only, no SHA-1, each once; IdP-initiated sign-in is off unless asked for.
//
// Factors:
//
//   - Once an account has a proved factor, another one is proved, and OAuth clients are authorized, at aal2 only.
//   - A TOTP code counts once per factor whoever uses it, also over several processes. Guesses are bounded per factor and day.
//   - Passkeys demand user verification, and a count of signatures that does not grow refuses the sign-in.
//
// Administration:
//
//   - Sessions are listed and ended, by their users and by administrators.
//   - A refresh is one audit entry; entries by the service key name service_role.
package accounts
