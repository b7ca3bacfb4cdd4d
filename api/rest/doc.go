// Package rest serves /rest/v1: PostgREST's dialect over the exposed schemas.
//
// A request walks through request.go and payload.go (HTTP to query.Request), planner.go (request and catalog to a
// compiled statement), accept.go and media.go (what the answer is written as), session.go (who asks), store (one flight
// to PostgreSQL), answer.go with row.go, status.go, headers.go and page.go (rows to HTTP); errors.go is the one place
// where anything that stops it becomes its answer. handler.go ties them together. explain.go answers with a plan instead,
// root.go describes the API at its root, outdated.go decides what is planned again when definitions have changed.
//
// batch.go has the requests that are several in one transaction, idempotency.go those that may be sent twice; both walk
// the same way, one operation beside the other (operation.go, together.go). reference.go and pointer.go put what one
// operation has returned into another.
//
// The following tables list every feature of the dialect with the tests of this package that prove it.
//
// # Reads
//
//	feature                                                      proved by
//	eq neq gt gte lt lte like ilike match imatch in is           TestEveryOperatorOfTheDialect
//	isdistinct, arrays, ranges, jsonb: cs cd ov sl sr nxr nxl adj TestEveryOperatorOfTheDialect
//	not before any operator                                      TestEveryOperatorOfTheDialect
//	any and all                                                  TestQuantifiersCompareWithSeveralValues
//	patterns: the star, wildcards of SQL, escapes                TestPatternsTranslateTheStarOnly
//	random filters against plain SQL                             TestRandomFiltersFindTheRowsThatSQLFinds
//	and, or, not, to any depth, with blanks                      TestConditionsCombineToAnyDepth
//	fts plfts phfts wfts, configurations, text and JSON columns  TestFullTextSearch
//	JSON paths in select, filter and order                       TestPathsIntoJSON TestNamesListsAndPaths
//	casts, aliases, order of keys, columns of the system         TestColumnsCastsAndAliases
//	the same key twice                                           TestNamesListsAndPaths
//	computed columns                                             TestComputedColumns
//	the extra search path                                        TestNamesAreLookedForAlongTheSearchPath
//	count as a column                                            TestCountIsAColumnOrARowCount
//	order, nulls first and last, by alias and by path            TestOrderings
//	quoted, mixed-case, reserved and Unicode names               TestNamesInEveryScriptAndSpelling TestNamesListsAndPaths
//	long names                                                   TestLongNames
//	reserved characters, escapes and encodings of values         TestValuesKeepEveryCharacter TestNamesListsAndPaths
//	values as to_json writes them                                TestValuesKeepTheirDigitsAndForms
//	aggregates, groups, casts before and after                   TestAggregates
//	aggregates switched off                                      TestAggregatesCanBeForbidden
//	limit, offset, Range, 206, 416, Content-Range                TestRangesOfRowsAndTotals TestReadingAnswersWithRangesCountsAndHeaders
//	count=exact                                                  TestReadingAnswersWithRangesCountsAndHeaders
//	count=planned, count=estimated                               TestPlannedAndEstimatedTotals
//	the maximum of rows                                          TestMaxRowsCapsReadsAndNotWrites TestPlannedAndEstimatedTotals
//	Content-Location, Vary                                       TestRangesOfRowsAndTotals
//	HEAD                                                         TestReadingAnswersWithRangesCountsAndHeaders
//	domain representations                                       TestDomainsMayHaveRepresentations
//	rights on columns, inherited tables, dropped columns         TestRelationsAreReadAsTheirRightsAllow
//	several schemas, Accept-Profile                              TestSeveralSchemas TestEmbedsStayInTheSchemaOfTheRequest
//	OPTIONS                                                      TestOptionsTellsWhatARelationOrFunctionTakes
//	bounds of a query string                                     TestVeryDeepAndVeryLongQueriesAreRefused
//	words of clients never become SQL                            TestWordsOfClientsNeverBecomeSQL
//	hidden names are no hints                                    TestHintsDoNotNameWhatIsNotExposed
//	definitions that change                                      TestDefinitionsMayChangeUnderPreparedStatements TestRequestsFollowChangesOfDefinitionsAtOnce
//
// # Embedding
//
//	feature                                                      proved by
//	to one, to many, one to one, through junctions               TestEveryKindOfRelationship TestEmbeds
//	keys of several columns, self references                     TestEveryKindOfRelationship TestEmbeds
//	nested to any depth, aliased, of no columns                  TestEveryKindOfRelationship
//	computed relationships                                       TestComputedRelationships
//	views, views of views, materialized views                    TestViewsAreRelatedAsTheirTables
//	partitioned tables                                           TestPartitionedTablesAreRelatedAsWholes
//	across schemas                                               TestEmbedsStayInTheSchemaOfTheRequest
//	hints: constraint, column, junction                          TestHintsChooseOneOfSeveralRelationships
//	a constraint or column in place of the name                  TestHintsChooseOneOfSeveralRelationships
//	PGRST201 with its choices                                    TestAmbiguousEmbedsListTheirChoices
//	PGRST200 with its hint                                       TestEmbedsThatAreNotFound
//	!inner and !left, with totals                                TestInnerAndLeftJoins
//	filters, and/or, limits and order of embeds                  TestConditionsReachEveryLevelOfEmbedding TestRangesOfRowsAndTotals
//	is.null and not.is.null on embeds, PGRST120                  TestNullFiltersOnEmbeds
//	conditions across embeds                                     TestConditionsReachEveryLevelOfEmbedding
//	ordering by an embed to one, PGRST118                        TestRowsAreOrderedByEmbeds
//	addressing by alias, PGRST108, the deprecated name           TestEmbedsAreAddressedByTheirAliases
//	spreads to one                                               TestSpreadsToOneMergeIntoTheParent
//	spreads to many                                              TestSpreadsToManyMakeLists
//	aggregates in embeds                                         TestAggregates
//	aggregates through spreads, PGRST127                         TestAggregatesThroughSpreads
//
// # Writes
//
//	feature                                                      proved by
//	insert of objects, arrays, forms; Location, representation   TestInserting TestWhatAnInsertAnswers TestALocationLeadsToItsRow
//	JSON to values of every type                                 TestJSONBecomesValuesOfEveryType
//	columns=, missing=default, generated and identity columns    TestColumnsAndWhatTheyLack
//	bodies that are refused                                      TestBodiesThatAreNoRows
//	CSV                                                          TestInsertingCSV TestCSVInEveryShape
//	upsert, on_conflict, merge and ignore                        TestUpserting TestMergingDuplicates TestIgnoringDuplicates
//	PUT                                                          TestPutting TestPuttingOneRow
//	PATCH                                                        TestPatching TestWhatAnUpdateChangesAndAnswers
//	DELETE                                                       TestDeleting TestWhatADeleteAnswers
//	one object of what was written                               TestOneObjectIsOneRowWritten
//	embeds of what was written                                   TestEmbedsOfChangedRows
//	views, rules, triggers                                       TestWritingToViews TestTriggersAndRulesHaveTheirSay
//	rights on columns                                            TestRightsOnColumnsThatAreWritten
//	domain representations                                       TestDomainsAreWrittenInTheirOwnForm
//	many rows at once, of different keys                         TestManyRowsOfManyKeys
//	row-level security                                           TestWritingUnderPolicies
//	constraints checked at the commit                            TestConstraintsThatAreCheckedAtTheCommit
//	answers too large to hold                                    TestAnAnswerTooLargeToHoldUndoesItsWrite
//	Content-Profile                                              TestWritesGoByContentProfile TestSeveralSchemas
//	OPTIONS                                                      TestOptionsOfEveryKindOfRelation
//
// # Functions
//
//	feature                                                      proved by
//	calls by GET, HEAD and POST                                  TestCallingFunctions
//	arguments of every type                                      TestArgumentsOfEveryType
//	defaults, variadic arguments                                 TestDefaultsAndVariadicArguments
//	arguments beside filters                                     TestArgumentsAndFiltersOfTheSameName
//	one unnamed argument                                         TestOneUnnamedArgumentTakesTheBody
//	overloads, PGRST202, PGRST203                                TestChoosingAmongOverloads
//	results of every shape                                       TestResultsOfEveryShape
//	select, filters, order, ranges and embeds of results         TestReadingWhatFunctionsGive
//	read-only calls, settings of functions                       TestFunctionsRunOnceAndInTheirOwnMode
//	response.headers and response.status                         TestFunctionsDecideAboutTheResponse
//
// # Media types
//
//	feature                                                      proved by
//	negotiation, JSON, one object, nulls=stripped, CSV, NDJSON   TestMediaTypesOfReads
//	the Accept header: order, quality, several lines             TestAcceptHeadersAreReadInTheOrderOfWhatIsWanted
//	text, xml and bytes of functions, Content-Type, HEAD         TestMediaTypesAndTheirContentTypes
//	handlers: domains, */*, aggregates, in place of our own      TestHandlersOfTheDatabaseMakeAnswers TestHandlersAreGivenTheRowsOfTheAnswer
//	handlers and changes of the schema, rights, bounds           TestHandlersComeAndGoWithTheSchema TestHandlersNeedTheRightToBeCalled TestLargeAnswersOfHandlersAreBounded
//	vnd.pgrst.plan                                               TestPlansOfRequests TestPlansAreHiddenUnlessAllowed TestAPlanIsThatOfTheRequestsOwnStatement
//	application/geo+json                                         TestRowsWithAGeometryAreGeoJSONFeatures
//
// # Preferences
//
//	feature                                                      proved by
//	Preference-Applied, its order, repeated headers              TestPreferencesAreAppliedAndToldInOrder TestWhichPreferencesAreTold
//	handling=strict and lenient, PGRST122                        TestStrictHandlingRefusesWhatIsNotKnown
//	max-affected, PGRST124, PGRST128                             TestNoMoreRowsAreAffectedThanPreferred TestFunctionsRunOnceAndInTheirOwnMode
//	timezone by name and by offset                               TestTimesFollowThePreferredTimeZone TestTimeZonesByTheirOffset
//	params=single-object, which is no more                       TestOneUnnamedArgumentTakesTheBody
//
// # Requests as SQL sees them
//
//	feature                                                      proved by
//	request.method, path, headers, cookies, jwt.claims, role     TestSQLSeesTheRequest
//	settings and isolation of roles and functions                TestRolesOfTokens
//	db-hoisted-tx-settings, app.settings.*                       TestTheOperatorsSettingsReachSQL
//	the pre-request                                              TestAPreRequestRunsBeforeEachStatement TestAPreRequestThatIsNotThereIsNamed
//	Prefer: tx, db-tx-end                                        TestTransactionsEndAsTheOperatorAndTheClientWant
//	the anonymous role, PGRST302                                 TestTheAnonymousRoleIsTheOperators TestAnAnonymousRoleThatIsNotThere
//	the place of the role in a token                             TestPathsOfTheRoleClaimLeaveOurKeysAlone
//	RAISE by PTxyz and PGRST, PGRST121, SQLSTATE to status       TestErrorsOfTheDatabaseHaveTheirStatus
//	Server-Timing                                                TestServerTimingTellsThePartsOfARequest
//	nothing outlives its request                                 TestSettingsNeverOutliveTheirRequest
//
// The server's own tests, in package api, prove the trace header, the keys of other issuers and what becomes of
// PostgREST's configuration.
//
// # Description
//
//	feature                                                      proved by
//	Swagger 2.0: paths and methods by the rights of the role     TestTheRootDescribesWhatTheRoleMayUse
//	types, keys, defaults and comments of columns                TestColumnsAreDescribedWithTheirTypesKeysAndDefaults
//	arguments and comments of functions                          TestFunctionsAreDescribedWithTheirArguments
//	OpenAPI 3.1, Accept                                          TestTheVersionOfTheDescriptionIsNegotiated
//	HEAD, ETag, schemas, other methods                           TestTheRootAnswersAsAResource
//	changes of the schema and of rights                          TestTheDescriptionFollowsTheSchema
//	privileges ignored, the address and the token                TestPrivilegesCanBeIgnored
//	switched off, PGRST126                                       TestTheDescriptionCanBeDisabled
//	a function in its place                                      TestAFunctionCanAnswerAtTheRoot TestAFunctionCanDescribeTheSchema
//
// # Batches
//
// POST /rest/v1/ with the media type application/vnd.basalt.batch+json takes a JSON array of up to 100 operations. An
// operation is an object with these members, of which the first two must be there:
//
//   - method: any method of the dialect
//   - path: a relation or a function (/rpc/name) with the query, as in a URL
//   - prefer: the preferences, such as return=representation
//   - headers: an object of accept, accept-profile, content-profile, content-type, range, range-unit; all others are
//     those of the batch
//   - body: any JSON, a string where content-type says otherwise
//   - refs: an object from places in the body (JSON pointers) to what belongs there, such as
//     {"/order_id": "$/0/body/0/id"}
//
// All run in one transaction, as whoever has sent the batch. The answer is 200 with an array of {"status", "headers",
// "body"} in the same order; a body that is no JSON is a string, application/octet-stream in base64. If one fails,
// nothing is done, and the answer is the status and the error that this operation would have been answered alone, with
// its "index". An error that is no operation's own (a constraint checked at the commit, a lost connection) has none.
//
// A reference $/0/body/0/id is a JSON pointer (RFC 6901) into the array of answers, and leads into the body of an earlier
// operation. In a path {$/0/body/0/id} stands for a whole value: column=eq.{…}, an element of column=in.({…}), or an
// argument of a function. The braces are those of the path as it is sent: text that is percent-encoded is never taken
// for a reference, nor is anything in a body. What a reference leads to becomes a value after the query was parsed, so
// that it can never be structure. One that leads nowhere is 400 with the code BSLT101 and the index of its operation.
//
// SQL sees each operation as a request of its own: request.method, request.path and what it sets itself are those of
// the operation; triggers that are deferred to the commit see the last one's. A batch takes one round trip to PostgreSQL,
// and one more behind each operation whose values another needs. Its COMMIT rides along unless an answer might still
// turn out to be an error: one that shows rows, is counted against max-affected, or is decided about by functions.
//
// Refusals of its own:
//
//   - 400 BSLT100: the body is not a batch, or beyond a bound
//
//   - 400 BSLT101: a reference that cannot be used
//
//   - 413 54000: answers, and copies of them by references, that together are beyond --answer-memory
//
//   - 500 57014: longer than --statement-timeout as a whole
//
//     feature                                                      proved by
//     each operation is answered as a request of its own           TestABatchAnswersEachOperationAsItsOwnRequestWouldBe
//     all or nothing                                               TestABatchWithAFailureAtAnyPlaceLeavesNothing
//     references                                                   TestOperationsUseWhatEarlierOnesReturned
//     refusals, with the index                                     TestABatchThatCannotBeDoneIsRefused
//     bounds                                                       TestTheAnswersOfABatchAreBoundedTogether TestABatchThatIsTooLargeToBeAnsweredDoesNothing
//     sessions, lost connections                                   TestABatchLeavesNothingInItsSession TestABatchThatLosesItsConnectionMayBeSentAgain
//     tx=rollback, the pre-request                                 TestABatchMayBeTriedWithoutKeepingIt TestEachOperationRunsWhatRunsBeforeARequest
//     definitions that change                                      TestABatchMeetsDefinitionsThatChanged
//     row-level security                                           TestPoliciesHoldForRandomRequests TestNoAnswerHoldsASecretOfAnother
//
// # Idempotency keys
//
// With --rest-idempotency a POST, PATCH, PUT, DELETE or batch with the header Idempotency-Key (1 to 255 printable
// characters of ASCII) is done once: whoever sends it again within --rest-idempotency-retention gets the first answer
// (status, headers, a body of at most 1 MiB) with Idempotency-Replayed: true. Claim, write and answer are one transaction:
// a request that failed has left nothing and may be sent again, and a server that dies in between has done nothing. One
// that is sent again too early waits for the first, ten seconds at most.
//
// A key belongs to its caller: the role and the subject of the token, whatever token that is. Those without a subject
// are told apart by their API key and the other claims. So all anonymous callers of a project share their keys, and the
// answer is given to the very same request only: somebody who guesses another's key must know its path, headers and body
// too, and learns no more than that the key is taken. Keys should be random all the same.
//
// Refusals of its own:
//
//   - 400 BSLT200: a key that is malformed or given twice
//
//   - 422 BSLT201: a key of another request (method, path, query, profile, preferences, media types, body)
//
//   - 409 BSLT202: the first request has not ended in time
//
//   - 413 BSLT203: an answer too large to be kept (nothing was done)
//
//     feature                                                      proved by
//     every kind of write is done once                             TestARequestThatIsSentAgainIsDoneOnce
//     keys of one caller and one request                           TestAKeyIsForOneRequestOfOneCaller
//     failures may be sent again                                   TestARequestThatFailedMayBeSentAgain
//     repetitions wait                                             TestRepetitionsThatComeEarlyWaitForTheFirst TestNoRepetitionWaitsForEver TestOneOfManyRequestsWithAKeyIsDone
//     answers expire                                               TestKeptAnswersExpire TestExpiredKeysThatAreTakenAgainDoNotDeadlock
//     claims of any isolation                                      TestAClaimThatCannotBeSerializedIsTriedAgain
//     deferred triggers                                            TestDeferredTriggersSeeTheLastOperationWithAKeyToo
//     the table is out of reach                                    TestNoRoleOfTheAPIReachesTheKeptAnswers
//
// # Beyond the original
//
//	feature                                                      proved by
//	pages by key: Prefer: page=keyset, after, Link               TestPagesByKey TestPagesTogetherAreTheWholeSet
//	pages in the order of every type, while rows are inserted    TestPagesInTheOrderOfEveryType TestPagesStayTrueWhileRowsAreInserted
//	pages whatever a role sets for how values are written        TestPagesDoNotDependOnHowARoleWritesValues
//	a cursor holds nothing but what was shown                    TestACursorShowsNothingOfHiddenRows
//	pages are held back within bounds                            TestAPageTooLargeToHoldIsRefused
//	writes of a wrong number of rows undo themselves             TestWritesOfTheWrongNumberOfRowsLeaveNothing
//	memory for shapes without end                                TestTheMemoryForStatementsIsBounded
//
// Answers of what only reads (relations, functions by GET, functions that promise not to write) stream in constant
// memory once they are larger than a mebibyte, or 32 KiB of one object a line; an error behind the first byte breaks
// the connection. HEAD answers at the end, errors as what they are. Where some function sets response.headers or response.status they are held back as far as may be
// held; a decision behind that breaks the connection too.
//
// # Differences from PostgREST
//
// Reads and embedding differ in these points:
//
//   - Keys stand in answers, and columns in CSV, where select has them; PostgREST puts embeds behind columns. The order
//     is the client's to choose, and JSON's readers do not mind.
//   - An empty select shows nothing of the rows, as empty parentheses show nothing of an embed; PostgREST shows every
//     column.
//   - Computed columns show the representation of the domain that they return, as columns do; PostgREST shows what the
//     domain rests on.
//   - Text behind a complete list, group or word (in.(1)x, or=(a.eq.1)x, is.nullx) is refused with PGRST100; PostgREST
//     drops it, so that a filter which was cut or glued together by mistake finds other rows than it says.
//   - Blanks at the ends of bare values in lists and groups do not count; PostgREST keeps some of them. Values whose
//     blanks count are quoted.
//   - A filter other than null on an embed without a column of its name is refused with PGRST120; PostgREST lets
//     PostgreSQL look for the column. The answer tells what is wrong. is.not_null means the same as not.is.null.
//   - An alias longer than 63 bytes is not cut: it becomes a name of PostgreSQL's in the rows of handlers alone.
//   - A related order may name a column of the embed that is not shown; PostgREST knows those shown only.
//   - Junctions of a relation with itself and one-to-one references to itself can be embedded by their hints; PostgREST
//     has no way to name them.
//   - The exact total of groups counts groups; PostgREST counts the rows behind them once there is a limit. The total
//     has to fit Content-Range.
//   - Without a maximum of rows count=estimated is exact; PostgREST gives the greater one of total and estimate.
//   - Content-Location keeps parameters of one name apart and escapes the relation's name; PostgREST joins them with
//     commas, which asks for something else. Longer than 4 KiB it is left out: clients such as Node's fetch refuse
//     answers with headers beyond 16 KiB.
//   - A negative limit of an embed is 416 with PGRST103 as at the top level; PostgREST leaves it to PostgreSQL (2201W).
//   - Range: 0--1 and the like are 416 with PGRST103; PostgREST passes over them.
//   - Queries have bounds (levels, filters, items, embeds, sort keys), beyond which they are refused with PGRST100:
//     planning must not cost more than a request may.
//   - The Warning header about a deprecated name tells the embed and its alias, in words of its own.
//   - A row of more bytes than --answer-memory and --body-limit have together is refused with 413 and 54000.
//
// Writes and functions differ in these points:
//
//   - max-affected and PUT count the rows that are written; PostgREST counts those that are shown, which aggregates and
//     inner embeds make others.
//   - An update by several rows is refused with PGRST102; PostgREST lets PostgreSQL take one of them.
//   - missing=default takes rows of different keys without columns= too.
//   - What select embeds is not looked at where no row is shown.
//   - A function of one unnamed json argument takes lists of anything and single values as they are; PostgREST refuses
//     lists of other than alike objects, and makes an empty list of single values. A list never names arguments;
//     PostgREST takes its first object.
//   - A value by GET that looks like a filter is an argument where the function would lack one that it must have:
//     PostgREST does not find the function.
//   - OPTIONS of a function does not ask for its arguments.
//   - Details of PGRST102 tell the row and what is wrong with it.
//   - While the catalog learns of a change, requests that fail by it are planned again.
//
// Requests and their settings differ in these points:
//
//   - Tokens must have an end (exp), and a role that is no text is refused: what cannot be taken back must be meant so.
//   - Tokens of another issuer's keys count here alone, not for accounts.
//   - The text beside a status (RAISE by PTxyz, status_text) is not sent: HTTP/2 has none.
//   - Statuses of RAISE and of response.status are 200 to 599.
//   - Of the settings of roles those are set that any user may set; rights on parameters (grant set) do not count.
//   - Server-Timing of a streamed answer leaves out what has not ended when it begins. It has a part "pool", the wait for
//     a connection, and tells microseconds.
//
// The description differs in these points:
//
//   - It has the methods that the role has the right to and that the relation takes; PostgREST lists all of POST, PATCH
//     and DELETE where any of them works. A role without usage of the schema is told of nothing.
//   - Overloads share a path, so it names the arguments of all; PostgREST describes one of them. A function whose only
//     argument is the body is described with that body.
//   - Names are escaped in paths and references, without which a document with odd names is not valid.
//   - Without a comment of the schema the title is "Basalt API". Defaults that are negative numbers are shown.
//   - The host is the server's own and the path /rest/v1 unless the operator names others.
package rest
