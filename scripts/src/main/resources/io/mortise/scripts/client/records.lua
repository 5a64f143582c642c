-- client/records: the records that clients have written of themselves.
--
-- EACH client has
-- KEYS[1] its record, a string
--
-- Answer: for each client its record; '' when there is none, or the user may not read it.
-- Cost: O(clients). Writes nothing.
local answers = {}
for i = 1, #KEYS do
  local answer = redis.pcall('GET', KEYS[i])
  answers[i] = type(answer) == 'string' and answer or ''
end
return answers
